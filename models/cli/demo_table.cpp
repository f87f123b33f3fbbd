#include <retrace/core/error.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/demos/demos.h>
#include <retrace/models/digits.h>
#include <retrace/models/json_lines.h>
#include <retrace/models/nearest_name.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {
namespace {

constexpr std::string_view all_demos = "all";
constexpr std::size_t widest_line = 110;

struct Column {
  std::vector<std::string> cells;  // the heading first
  std::size_t width = 0;
  bool is_text = false;
};

/// Four decimals, or two digits where those would hide the number. An exact zero shows that it is one.
std::string number_text(double number) {
  if (number == 0) return "0";
  return in_digits(number, std::abs(number) < 1e-3 ? "%.1e" : "%.4f");
}

Column make_column(const DemoTable& table, std::size_t index) {
  Column column{.cells = {table.columns[index]}};
  for (const std::vector<DemoCell>& row : table.rows) {
    if (const auto* words = std::get_if<std::string>(&row[index])) {
      column.cells.push_back(*words);
      column.is_text = true;
    } else if (const auto* count = std::get_if<std::int64_t>(&row[index])) {
      column.cells.push_back(std::to_string(*count));
    } else {
      column.cells.push_back(number_text(std::get<double>(row[index])));
    }
  }
  for (const std::string& cell : column.cells) column.width = std::max(column.width, cell.size());
  return column;
}

void print_cells(std::ostream& out, const DemoTable& table) {
  std::vector<Column> columns;
  for (std::size_t index = 0; index < table.columns.size(); ++index) columns.push_back(make_column(table, index));
  for (std::size_t line = 0; line <= table.rows.size(); ++line) {
    std::string cells;
    for (const Column& column : columns) {
      const std::string padding(column.width - column.cells[line].size(), ' ');
      cells += "  " + (column.is_text ? column.cells[line] + padding : padding + column.cells[line]);
    }
    out << cells.substr(0, cells.find_last_not_of(' ') + 1) << '\n';
  }
}

/// The words, on lines of their own where they would be too long for one.
void print_words(std::ostream& out, const std::string& words) {
  std::size_t begin = 0;
  while (words.size() - begin > widest_line) {
    const std::size_t end = words.rfind(' ', begin + widest_line);
    if (end == std::string::npos || end <= begin) break;
    out << words.substr(begin, end - begin) << '\n';
    begin = end + 1;
  }
  out << words.substr(begin) << '\n';
}

void print_demo(std::ostream& out, const Demo& demo) {
  out << demo.name << ": " << demo.title << "\n\n";
  for (const DemoTable& table : demo.tables) {
    out << table.title << '\n';
    print_words(out, "See: " + table.see);
    print_cells(out, table);
    print_words(out, (table.holds ? "Holds: " : "DOES NOT HOLD: ") + table.finding);
    out << '\n';
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
