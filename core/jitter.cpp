#include <retrace/core/jitter.h>

#include <limits>
#include <utility>

namespace retrace {
namespace {

thread_local constinit std::uint64_t state = 1;

// xorshift64 (Marsaglia, 2003).
double changed_in_last_place(double x) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  const double unit = static_cast<double>(state >> 11) * 0x1p-52 - 1;  // in [-1, 1)
  return x * (1 + unit * std::numeric_limits<double>::epsilon());
}

double sum(double a, double b) {
  const double result = a + b, of_b = result - a;
  const double error = (a - (result - of_b)) + (b - of_b);
  return error == 0 ? result : changed_in_last_place(result);
}

// long double has more digits, which tell whether any were lost but for those that nobody would miss.
double product(double a, double b) {
  const double result = a * b;
  return static_cast<long double>(a) * b == result ? result : changed_in_last_place(result);
}

double quotient(double a, double b) {
  const double result = a / b;
  return static_cast<long double>(result) * b == a ? result : changed_in_last_place(result);
}

}  // namespace

thread_local constinit bool detail::jitters = false;

Dual detail::jittered_sum(Dual a, Dual b) { return {sum(a.value, b.value), sum(a.tangent, b.tangent)}; }

Dual detail::jittered_product(Dual a, Dual b) {
  return {product(a.value, b.value), sum(product(a.tangent, b.value), product(a.value, b.tangent))};
}

Dual detail::jittered_quotient(Dual a, Dual b) {
  const double q = quotient(a.value, b.value);
  return {q, quotient(sum(a.tangent, -product(q, b.tangent)), b.value)};
}

JitterScope::JitterScope(std::uint64_t seed) : outer_(std::exchange(detail::jitters, true)) { state = 2 * seed + 1; }

}  // namespace retrace
