#include <retrace/models/reports/document/facts.h>

namespace retrace {

void extend(FactRow& row, const FactRow& others) { row.insert(row.end(), others.begin(), others.end()); }

JsonObject object_of(const FactRow& row) {
  JsonObject object;
  for (const Fact& fact : row)
    if (!fact.member.empty()) object.add(fact.member, fact.value);
  return object;
}

std::vector<Row> printed_rows(const std::vector<FactRow>& rows) {
  std::vector<Row> printed(1);
  for (const FactRow& row : rows) {
    printed.emplace_back();
    for (const Fact& fact : row) {
      if (!fact.is_printed) continue;
      if (printed.size() == 2) printed.front().push_back(fact.heading);
      printed.back().push_back(fact.cell);
    }
  }
  return printed;
}

}  // namespace retrace
