#include <retrace/models/formats/text_table.h>

#include <algorithm>
#include <sstream>

namespace retrace {
namespace {

constexpr std::size_t gap = 2;  // spaces between two columns

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Breaks the words into lines of at most `width` characters; a longer word gets a line of its own.
std::vector<std::string> broken(std::string_view words, std::size_t width) {
  std::vector<std::string> lines;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (!lines.empty() && characters(lines.back()) + 1 + characters(word) <= width)
      lines.back().append(" ").append(word);
    else
      lines.emplace_back(word);
  }
  return lines;
}

struct Column {
  std::vector<std::string> heading;  // its lines
  std::vector<std::string> cells;
  std::size_t width = 0;
  bool left = false;
};

/// The heading is broken to the width of the cells, to `heading_width` or to its longest word, whichever is largest.
Column make_column(const std::vector<Row>& rows, std::size_t index, bool left, std::size_t heading_width) {
  Column column{.heading = {}, .cells = {}, .left = left};
  for (std::size_t row = 1; row < rows.size(); ++row) {
    column.cells.push_back(index < rows[row].size() ? rows[row][index] : "");
    column.width = std::max(column.width, characters(column.cells.back()));
  }
  if (index < rows.front().size()) column.heading = broken(rows.front()[index], std::max(column.width, heading_width));
  for (const std::string& line : column.heading) column.width = std::max(column.width, characters(line));
  return column;
}

std::vector<Column> make_columns(const std::vector<Row>& rows, std::string_view alignment, std::size_t heading_width) {
  std::size_t count = 0;
  for (const Row& row : rows) count = std::max(count, row.size());
  std::vector<Column> columns;
  for (std::size_t k = 0; k < count; ++k)
    columns.push_back(make_column(rows, k, alignment[std::min(k, alignment.size() - 1)] == 'l', heading_width));
  return columns;
}

std::size_t width_of(const std::vector<Column>& columns) {
  std::size_t width = 0;
  for (const Column& column : columns) width += column.width + (width == 0 ? 0 : gap);
  return width;
}

/// One line of the table; its k-th cell is cell_of(column k).
std::string line_of(const std::vector<Column>& columns, std::string_view indent, const auto& cell_of) {
  std::string line(indent);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::string_view cell = cell_of(columns[k]);
    const std::string padding(columns[k].width - characters(cell), ' ');
    if (k > 0) line.append(gap, ' ');
    if (columns[k].left)
      line.append(cell).append(padding);
    else
      line.append(padding).append(cell);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// Headings are aligned at the bottom: one with fewer lines begins lower.
std::string print(const std::vector<Column>& columns, std::string_view indent) {
  std::size_t height = 0;
  for (const Column& column : columns) height = std::max(height, column.heading.size());
  std::string result;
  for (std::size_t line = 0; line < height; ++line)
    result += line_of(columns, indent, [&](const Column& column) -> std::string_view {
      const std::size_t missing = height - column.heading.size();
      return line < missing ? std::string_view() : column.heading[line - missing];
    });
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row)
    result += line_of(columns, indent, [row](const Column& column) -> std::string_view { return column.cells[row]; });
  return result;
}

}  // namespace

std::size_t characters(std::string_view words) {
  return static_cast<std::size_t>(std::ranges::count_if(words, [](char byte) { return !continues_character(byte); }));
}

std::string_view whole_characters(std::string_view words, std::size_t bytes) {
  std::size_t end = std::min(words.size(), bytes);
  while (end > 0 && end < words.size() && continues_character(words[end])) --end;
  return words.substr(0, end);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_table(const std::vector<Row>& rows, std::string_view alignment, std::string_view indent,
                       std::size_t width) {
  const std::size_t room = width - std::min(width, indent.size());
  std::vector<Column> columns = make_columns(rows, alignment, room);
  for (std::size_t heading_width = room; heading_width > 0 && width_of(columns) > room;)
    columns = make_columns(rows, alignment, --heading_width);
  std::string result;
  std::vector<Column> part{columns.front()};
  for (std::size_t k = 1; k < columns.size(); ++k) {
    part.push_back(columns[k]);
    if (part.size() <= 2 || width_of(part) <= room) continue;
    part.pop_back();
    result += print(part, indent) + "\n";
    part = {columns.front(), columns[k]};
  }
  return result + print(part, indent);
}

std::string wrapped(std::string_view words, std::string_view indent, std::size_t width) {
  std::string result;
  for (const std::string& line : broken(words, width - std::min(width, indent.size())))
    result.append(indent).append(line).append("\n");
  return result;
}

}  // namespace retrace
