#include <retrace/core/base/error.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/demos/demos.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/formats/text_table.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {
namespace {

constexpr std::string_view all_demos = "all";

/// Four decimals, or two significant digits for numbers that would then show as 0. An exact zero is printed as 0.
std::string number_text(double number) {
  if (number == 0) return "0";
  return in_digits(number, std::abs(number) < 1e-3 ? "%.1e" : "%.4f");
}

std::string cell_text(const DemoCell& cell) {
  if (const auto* words = std::get_if<std::string>(&cell)) return *words;
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return std::to_string(*count);
  return number_text(std::get<double>(cell));
}

std::string table_text(const DemoTable& table) {
  std::vector<Row> rows{table.columns};
  std::string alignment(table.columns.size(), 'r');
  for (const std::vector<DemoCell>& cells : table.rows) {
    Row& row = rows.emplace_back();
    for (const DemoCell& cell : cells) {
      if (std::holds_alternative<std::string>(cell)) alignment[row.size()] = 'l';
      row.push_back(cell_text(cell));
    }
  }
  return text_table(rows, alignment, "  ");
}

void print_demo(std::ostream& out, const Demo& demo) {
  out << demo.name << ": " << demo.title << "\n\n";
  for (const DemoTable& table : demo.tables) {
    out << wrapped(table.title) << wrapped("See: " + table.see) << table_text(table)
        << wrapped((table.holds ? "Holds: " : "DOES NOT HOLD: ") + table.finding) << '\n';
  }
}

std::vector<Demo> make_demos(const std::string& name) {
  std::vector<std::string_view> known(demo_names().begin(), demo_names().end());
  if (name == all_demos) {
    std::vector<Demo> demos;
    for (const std::string_view each : known) demos.push_back(make_demo(each));
    return demos;
  }
  known.push_back(all_demos);
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw ValueError(unknown_name("retrace demo", "demo", name, known));
  return {make_demo(name)};
}

}  // namespace

void run_named_demo(const DemoFlags& flags, Program& program) {
  const std::vector<Demo> demos = make_demos(flags.name);
  for (const Demo& demo : demos) {
    print_demo(flags.json ? program.messages : program.results, demo);
    if (!demo.holds()) program.status = 1;
  }
  if (flags.json) program.results << to_json(demos) << '\n';
  program.results << std::flush;
}

}  // namespace retrace
