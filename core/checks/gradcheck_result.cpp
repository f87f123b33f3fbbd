#include <cmath>
#include <cstdio>
#include <ostream>

#include <retrace/core/base/printable.h>
#include <retrace/core/checks/gradcheck_result.h>
#include <retrace/core/tensor/element_index.h>

namespace retrace {
namespace {

template <class... Arguments> void print(std::ostream& out, const char* format, Arguments... arguments) {
  char line[300];
  std::snprintf(line, sizeof line, format, without_nan_sign(arguments)...);
  out << line;
}

// "[1, 0, 3]"
void print_verdict(std::ostream& out, const GradcheckResult& result) {
  out << "gradcheck " << (result.passed() ? "passed: " : "FAILED: ") << result.name;
  if (result.directions > 0)
    print(out, ", %lld elements along %d random directions, ", static_cast<long long>(result.elements),
          result.directions);
  else
    print(out, ", %lld elements, %lld skipped, %lld failed, worst error %.2e (limit %.0e), ",
          static_cast<long long>(result.elements), static_cast<long long>(result.skipped),
          static_cast<long long>(result.failed), result.worst_error, result.limit);
  if (!result.not_exact.empty())
    out << "no exact check\n";
  else if (result.exact_noise > 0)
    print(out, "exact error %.2e beyond a noise of %.2e (limit %.0e)\n", result.exact_error, result.exact_noise,
          result.exact_limit);
  else
    print(out, "exact error %.2e (limit %.0e)\n", result.exact_error, result.exact_limit);
}

// A number that is derived from others; "-" where they have none, as 0 / 0.
void print_derived(std::ostream& out, const char* format, int width, double number) {
  if (std::isnan(number))
    print(out, " %*s", width, "-");
  else
    print(out, format, width, number);
}

void print_element(std::ostream& out, const GradcheckElement& e) {
  print(out, "  %-24s %14s %14.6e %14.6e", e.input.c_str(), index_in_brackets(e.position).c_str(), e.analytic,
        e.numeric);
  print_derived(out, " %*.2e", 10, std::abs(e.analytic - e.numeric));
  print_derived(out, " %*.2e", 10, e.error);
  print_derived(out, " %*.3f", 9, e.analytic / e.numeric);
  if (e.noise > 0) print(out, "  noise %.2e", e.noise);
  if (!std::isnan(e.exact) || e.noise > 0) print(out, "%s dual numbers %.6e", e.noise > 0 ? "," : " ", e.exact);
  out << '\n';
}

}  // namespace

std::string explanation_of(const GradcheckElement& e) {
  const std::string reason = e.decided_by == DecidedBy::duals_at_kink
                                 ? text(" is at a kink, with slopes of ", e.below, " and ", e.above, " on its sides")
                                 : ": differences do not converge";
  return text(e.input, " ", index_in_brackets(e.position), reason, "; its gradient ", e.analytic,
              " is that of dual numbers");
}

std::ostream& operator<<(std::ostream& out, const GradcheckResult& result) {
  print_verdict(out, result);
  if (!result.vacuous.empty()) out << "  vacuous: " << result.vacuous << '\n';
  if (!result.not_repeatable.empty()) out << "  not repeatable: " << result.not_repeatable << '\n';
  if (!result.not_exact.empty()) out << "  no exact check: " << result.not_exact << '\n';
  if (result.undecided > 0)
    print(out, "  %lld elements lie within the rounding noise of their differences (up to %.2e): %s\n",
          static_cast<long long>(result.undecided), result.noise,
          result.not_exact.empty()
              ? "dual numbers decided them"
              : "without dual numbers, those that differ pass if it is below the limit times the rms of all gradients");
  for (const GradcheckElement& e : result.told) out << "  " << explanation_of(e) << '\n';
  if (const std::int64_t more = result.at_kinks + result.divergent - static_cast<std::int64_t>(result.told.size());
      more > 0)
    print(out, "  and %lld more such elements\n", static_cast<long long>(more));
  if (result.failed > 0 && result.not_exact.empty() && result.exact_error <= result.exact_limit)
    out << "  the exact check passed: backward and dual numbers agree, and differences do not; either both follow the "
           "same wrong rule, or f is not continuous near these points (set kinks to skip them)\n";
  if (result.failed == 0 && result.exact_error <= result.exact_limit) return out;
  print(out, "  %-24s %14s %14s %14s %10s %10s %9s\n", "input", "index", "analytic", "numeric", "absolute", "relative",
        "ratio");
  for (const GradcheckElement& e : result.worst) print_element(out, e);
  return out;
}

}  // namespace retrace
