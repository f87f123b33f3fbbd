#include <ostream>

#include <retrace/models/checks/checks.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/print.h>
#include <retrace/models/json_lines.h>

namespace retrace {
namespace {

// Returns whether all passed.
bool print_rows(std::ostream& out, const std::vector<CheckRow>& rows) {
  std::int64_t elements = 0;
  std::size_t failed = 0;
  print(out, "%-24s %6s %9s %19s %14s\n", "op or module", "cases", "elements", "finite differences", "dual numbers");
  for (const CheckRow& row : rows) {
    print(out, "%-24s %6lld %9lld %19.1e %14.1e  %s\n", row.name.c_str(), static_cast<long long>(row.cases),
          static_cast<long long>(row.elements), row.worst_error, row.exact_error,
          row.failures.empty() ? "ok" : "FAILED");
    for (const std::string& failure : row.failures) out << "    " << failure << '\n';
    elements += row.elements;
    failed += row.failures.empty() ? 0 : 1;
  }
  print(out, "%zu checked in %lld elements, %zu failed\n", rows.size(), static_cast<long long>(elements), failed);
  return failed == 0;
}

}  // namespace

bool print_checks(std::ostream& out, const std::vector<std::string>& names) {
  return print_rows(out, run_checks(names));
}

void run_gradcheck(const GradcheckFlags& flags, Program& program) {
  const std::vector<CheckRow> rows = run_checks(flags.names);
  const bool passed = print_rows(flags.json ? program.messages : program.results, rows);
  if (flags.json) program.results << to_json(rows) << std::endl;
  if (!passed) program.status = 1;
}

}  // namespace retrace
