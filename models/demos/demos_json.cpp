#include <retrace/models/demos/demos.h>
#include <retrace/models/formats/json_text.h>

#include <algorithm>
#include <variant>

namespace retrace {
namespace {

JsonObject table_to_json(const DemoTable& table) {
  std::vector<JsonObject> rows;
  for (const std::vector<DemoCell>& cells : table.rows) {
    JsonObject row;
    for (std::size_t column = 0; column < cells.size(); ++column)
      std::visit([&](const auto& cell) { row.add(table.columns[column], cell); }, cells[column]);
    rows.push_back(std::move(row));
  }
  return {
      {"title", table.title}, {"see", table.see}, {"rows", rows}, {"finding", table.finding}, {"holds", table.holds}};
}

}  // namespace

std::string to_json(const std::vector<Demo>& demos) {
  std::vector<JsonObject> list;
  for (const Demo& demo : demos) {
    std::vector<JsonObject> tables;
    for (const DemoTable& table : demo.tables) tables.push_back(table_to_json(table));
    list.push_back({{"name", demo.name}, {"title", demo.title}, {"tables", tables}, {"holds", demo.holds()}});
  }
  const bool all_hold = std::all_of(demos.begin(), demos.end(), [](const Demo& demo) { return demo.holds(); });
  return JsonObject{{"demos", list}, {"holds", all_hold}}.text();
}

}  // namespace retrace
