#include <retrace/models/checks/checks.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include <retrace/models/checks/generic_checks.h>
#include <retrace/models/nearest_name.h>

namespace retrace {
namespace {

bool is_module(const CheckedName& checked) { return checked.name[0] >= 'A' && checked.name[0] <= 'Z'; }

// The inputs of a module's case are its own weights: they are moved in place.
GradcheckResult check(const CheckedName& checked, const CheckCase& one) {
  const GradcheckOptions options{.kinks = one.kinks};
  if (!is_module(checked)) return gradcheck(one.function, one.inputs, options);
  std::vector<std::pair<std::string, Tensor>> leaves;
  for (std::size_t k = 0; k < one.inputs.size(); ++k)
    if (one.inputs[k].dtype() != i64) leaves.emplace_back(text("input ", k), one.inputs[k].watch());
  return gradcheck_parameters([&] { return one.function(one.inputs); }, leaves, options);
}

CheckRow run(const CheckedName& checked) {
  CheckRow row;
  row.name = checked.name;
  for (const CheckCase& one : checked.cases) {
    const GradcheckResult result = check(checked, one);
    ++row.cases;
    row.elements += result.elements;
    if (is_worse(result.worst_error, row.worst_error)) row.worst_error = result.worst_error;
    if (is_worse(result.exact_error, row.exact_error)) row.exact_error = result.exact_error;
    if (!result.passed()) {
      std::ostringstream report;
      report << checked.name << ", case " << row.cases << ": " << result;
      row.failures.push_back(report.str());
    }
    if (is_module(checked)) continue;
    for (std::string& failure : generic_failures(checked, one)) row.failures.push_back(std::move(failure));
  }
  return row;
}

}  // namespace

std::vector<CheckRow> run_checks(const std::vector<std::string>& names) {
  std::vector<CheckedName> table = op_cases();
  for (CheckedName& module : module_cases()) table.push_back(std::move(module));
  std::vector<std::string_view> known;
  for (const CheckedName& checked : table) known.push_back(checked.name);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw ValueError(unknown_name("gradcheck", "op or module", name, known));
  std::vector<CheckRow> rows;
  for (const CheckedName& checked : table)
    if (names.empty() || std::ranges::find(names, checked.name) != names.end()) rows.push_back(run(checked));
  return rows;
}

}  // namespace retrace
