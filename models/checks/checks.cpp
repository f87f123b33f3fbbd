#include <retrace/models/checks/checks.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string_view>

#include <retrace/models/checks/generic_checks.h>
#include <retrace/models/checks/memory_rule.h>
#include <retrace/models/checks/module_cases.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/ops/checks/op_checks.h>

namespace retrace {
namespace {

GradcheckResult check(const CheckedName& checked, const CheckCase& one, int order, std::uint64_t seed) {
  const GradcheckOptions options{.seed = seed,
                                 .order = order,
                                 .kinks = one.kinks,
                                 .name = checked.name,
                                 .allow_empty = true,
                                 .named_by_visit = one.holds_inputs};
  if (!one.holds_inputs) return gradcheck(one.function, one.inputs, options);
  std::vector<std::pair<std::string, Tensor>> leaves;
  for (std::size_t k = 0; k < one.inputs.size(); ++k)
    if (one.inputs[k].dtype() != i64)
      leaves.emplace_back(k < one.names.size() ? one.names[k] : text("input ", k), one.inputs[k].watch());
  return gradcheck_parameters([&] { return one.function(one.inputs); }, leaves, options);
}

CheckRow run(const CheckedName& checked, int order, std::uint64_t seed) {
  CheckRow row;
  row.name = checked.name;
  for (const CheckCase& one : checked.cases) {
    if (order > one.derivatives) continue;
    add_case(row, check(checked, one, order, seed));
    if (order > 1 || seed > 0) continue;
    for (std::string& failure : memory_failures(checked, one)) row.failures.push_back(std::move(failure));
    if (one.holds_inputs) continue;
    for (std::string& failure : generic_failures(checked, one)) row.failures.push_back(std::move(failure));
  }
  return row;
}

/// A model of somebody else's may fail before its gradients can be looked at.
CheckRow run_registered(std::string_view name, int order, std::uint64_t seed) {
  try {
    return run(registered_case(name), order, seed);
  } catch (const Error& error) {
    return {.name = std::string(name), .failures = {error.what()}};
  }
}

/// Lower case, without hyphens and underscores.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char letter : name)
    if (letter != '-' && letter != '_')
      letters += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  return letters;
}

/// Whether `name` is the row's own name or the name of the model whose module the row checks.
bool is_called(std::string_view row, std::string_view name) {
  return plain(row) == plain(name) || plain(row) == plain(name) + "model";
}

/// A row of the table, before its cases have run.
struct Row {
  std::string name;
  std::function<CheckRow(int order, std::uint64_t seed)> run;
};

/// Those of checked_names.
std::vector<Row> rows_called(const std::vector<std::string>& names) {
  std::vector<Row> rows;
  for (auto cases : {op_cases, module_cases})
    for (CheckedName& checked : cases()) {
      std::string name = checked.name;
      rows.push_back({std::move(name), [checked = std::move(checked)](int order, std::uint64_t seed) {
                        return run(checked, order, seed);
                      }});
    }
  for (const std::string_view model : registered_model_names())
    rows.push_back(
        {std::string(model), [model](int order, std::uint64_t seed) { return run_registered(model, order, seed); }});
  std::vector<std::string_view> known;
  for (const Row& row : rows) known.push_back(row.name);
  for (const std::string& name : names)
    if (std::ranges::none_of(known, [&](std::string_view row) { return is_called(row, name); }))
      throw ValueError(unknown_name("gradcheck", "op or module", name, known, "retrace gradcheck --list"));
  if (!names.empty())
    std::erase_if(rows, [&](const Row& row) {
      return std::ranges::none_of(names, [&](const std::string& name) { return is_called(row.name, name); });
    });
  return rows;
}

}  // namespace

void add_case(CheckRow& row, const GradcheckResult& result) {
  ++row.cases;
  row.elements += result.elements;
  row.skipped += result.skipped;
  row.failed_elements += result.failed;
  row.undecided += result.undecided;
  row.at_kinks += result.at_kinks;
  row.divergent += result.divergent;
  for (const GradcheckElement& element : result.told) row.explanations.push_back(explanation_of(element));
  if (!result.not_exact.empty()) row.without_duals.push_back(text("case ", row.cases, ": ", result.not_exact));
  if (is_worse(result.worst_error, row.worst_error)) row.worst_error = result.worst_error;
  if (is_worse(result.exact_error, row.exact_error)) row.exact_error = result.exact_error;
  if (result.passed()) return;
  std::ostringstream report;
  report << "case " << row.cases << ": " << result;
  row.failures.push_back(report.str());
}

CheckRow total_of(const std::vector<CheckRow>& rows) {
  CheckRow total;
  for (const CheckRow& row : rows) {
    total.cases += row.cases;
    total.elements += row.elements;
    total.skipped += row.skipped;
    total.failed_elements += row.failed_elements;
    total.undecided += row.undecided;
    total.at_kinks += row.at_kinks;
    total.divergent += row.divergent;
    total.without_duals.insert(total.without_duals.end(), row.without_duals.begin(), row.without_duals.end());
    if (total.name.empty() || is_worse(row.worst_error, total.worst_error)) {
      total.name = row.name;
      total.worst_error = row.worst_error;
    }
    if (is_worse(row.exact_error, total.exact_error)) total.exact_error = row.exact_error;
    if (!row.failures.empty()) total.failures.push_back(row.name);
  }
  return total;
}

std::vector<std::string> checked_names(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const Row& row : rows_called(names)) result.push_back(row.name);
  return result;
}

std::vector<CheckRow> run_checks(const std::vector<std::string>& names, int order, std::uint64_t seed) {
  std::vector<CheckRow> result;
  for (const Row& row : rows_called(names)) result.push_back(row.run(order, seed));
  return result;
}

}  // namespace retrace
