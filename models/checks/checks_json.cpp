#include <retrace/models/checks/checks.h>
#include <retrace/models/formats/json_text.h>

namespace retrace {
namespace {

JsonObject counts_of(const CheckRow& row) {
  return {{"cases", row.cases},
          {"without_duals", row.without_duals.size()},
          {"elements", row.elements},
          {"skipped", row.skipped},
          {"failed_elements", row.failed_elements},
          {"undecided", row.undecided},
          {"at_kinks", row.at_kinks},
          {"divergent", row.divergent},
          {"worst_error", row.worst_error},
          {"exact_error", row.exact_error}};
}

}  // namespace

std::string to_json(const std::vector<CheckRow>& rows) {
  const CheckRow total = total_of(rows);
  JsonObject result = counts_of(total);
  result.add("worst_name", total.name);
  result.add("failed", total.failures.size());
  std::vector<JsonObject> list;
  for (const CheckRow& row : rows) {
    JsonObject& one = list.emplace_back(JsonObject{{"name", row.name}, {"passed", row.failures.empty()}});
    one.add(counts_of(row));
    one.add("explanations", row.explanations);
    one.add("failures", row.failures);
  }
  result.add("rows", list);
  return result.text();
}

}  // namespace retrace
