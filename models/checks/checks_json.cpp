#include <retrace/models/checks/checks.h>
#include <retrace/models/formats/json_text.h>

namespace retrace {

std::string to_json(const std::vector<CheckRow>& rows) {
  std::int64_t cases = 0, without_duals = 0, elements = 0, skipped = 0, failed_elements = 0, undecided = 0, failed = 0;
  const CheckRow* worst = nullptr;
  for (const CheckRow& row : rows) {
    cases += row.cases;
    without_duals += static_cast<std::int64_t>(row.without_duals.size());
    elements += row.elements;
    skipped += row.skipped;
    failed_elements += row.failed_elements;
    undecided += row.undecided;
    failed += row.failures.empty() ? 0 : 1;
    if (worst == nullptr || is_worse(row.worst_error, worst->worst_error)) worst = &row;
  }
  return JsonObject{{"cases", cases},
                    {"without_duals", without_duals},
                    {"elements", elements},
                    {"skipped", skipped},
                    {"failed_elements", failed_elements},
                    {"undecided", undecided},
                    {"worst_name", worst == nullptr ? "" : worst->name},
                    {"worst_error", worst == nullptr ? 0 : worst->worst_error},
                    {"failed", failed}}
      .text();
}

}  // namespace retrace
