// retrace selfcheck: redoes on this machine what can be checked on it.
#include <algorithm>
#include <chrono>

#include <retrace/models/checks/selfcheck/selfcheck.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/print.h>
#include <retrace/models/formats/nearest_name.h>

namespace retrace {
namespace {

constexpr std::size_t max_failures = 10;  // shown per line

std::vector<SelfcheckPart> parts_called(const std::vector<std::string>& names) {
  const auto all_parts = selfcheck_parts();
  std::vector<std::string_view> known;
  for (const SelfcheckPart& part : all_parts) known.push_back(part.name);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw ValueError(unknown_name("selfcheck", "part", name, known, "retrace selfcheck --help"));
  std::vector<SelfcheckPart> result;
  for (const SelfcheckPart& part : all_parts)
    if (names.empty() || std::ranges::find(names, part.name) != names.end()) result.push_back(part);
  return result;
}

void print_figure(std::ostream& out, const Figure& figure, double seconds) {
  print(out, "%-9s  %-47s %8lld %9.2g %7.0e %6.1f", figure.part.c_str(), figure.what.c_str(),
        static_cast<long long>(figure.count), figure.worst, figure.limit, seconds);
  out << (figure.passed() ? "  ok\n" : "  FAILED\n");
  for (std::size_t k = 0; k < std::min(figure.failures.size(), max_failures); ++k)
    out << "    " << figure.failures[k] << '\n';
  if (figure.failures.size() > max_failures) out << "    and " << figure.failures.size() - max_failures << " more\n";
  out.flush();
}

}  // namespace

void run_selfcheck(const SelfcheckFlags& flags, Program& program) {
  std::ostream& out = flags.json ? program.messages : program.results;
  const std::vector<SelfcheckPart> parts = parts_called(flags.parts);
  print(out, "%-9s  %-47s %8s %9s %7s %6s\n", "part", "what", "number", "worst", "limit", "s");
  std::vector<Figure> figures;
  for (const SelfcheckPart& part : parts) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Figure> of_part = part.run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    for (const Figure& figure : of_part) print_figure(out, figure, taken.count() / static_cast<double>(of_part.size()));
    figures.insert(figures.end(), of_part.begin(), of_part.end());
  }
  const auto failed = figures.size() - static_cast<std::size_t>(std::ranges::count_if(figures, &Figure::passed));
  out << figures.size() << " figures, " << failed << " beyond their limits\n";
  if (flags.json) program.results << to_json(figures) << std::endl;
  if (failed > 0) program.status = 1;
}

}  // namespace retrace
