#include <retrace/core/base/error.h>
#include <retrace/models/reports/document/markup.h>
#include <retrace/models/reports/plots/heat_map.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace retrace {
namespace {

constexpr std::string_view shades = " .:-=+*#%@";
constexpr int space = 12, line_height = 16;  // pixels between maps, and of a line of letters
constexpr double letter_width = 6.5;

double part_of(double value, double largest) { return largest > 0 ? std::clamp(value / largest, 0.0, 1.0) : 0; }

char shade_of(double value, double largest) {
  return shades[static_cast<std::size_t>(
      std::lround(part_of(value, largest) * static_cast<double>(shades.size() - 1)))];
}

std::string colour_of(double value, double largest) {
  constexpr std::array<double, 3> white{255, 255, 255}, blue{11, 61, 112};
  const double part = part_of(value, largest);
  std::array<char, 16> code;
  const auto mixed = [&](std::size_t k) {
    return static_cast<int>(std::lround(white[k] + part * (blue[k] - white[k])));
  };
  std::snprintf(code.data(), code.size(), "#%02x%02x%02x", mixed(0), mixed(1), mixed(2));
  return code.data();
}

std::size_t longest_name(const HeatMap& map) {
  std::size_t longest = 0;
  for (const std::string& name : map.row_names) longest = std::max(longest, name.size());
  return longest;
}

double value_at(const HeatMap& map, std::int64_t row, std::int64_t column) {
  return map.values[static_cast<std::size_t>(row * map.columns + column)];
}

/// The title, a line for each row, and a line with the mark.
std::vector<std::string> lines_of(const HeatMap& map, double largest) {
  const std::size_t names = longest_name(map);
  std::vector<std::string> lines{map.title + (map.marked ? "*" : "")};
  for (std::int64_t row = 0; row < map.rows; ++row) {
    std::string name = map.row_names.empty() ? "" : map.row_names[static_cast<std::size_t>(row)];
    name.resize(names, ' ');
    std::string& line = lines.emplace_back(name + "|");
    for (std::int64_t column = 0; column < map.columns; ++column)
      line += text(column == map.apart ? " " : "", std::string(1, shade_of(value_at(map, row, column), largest)));
    line += "|";
  }
  if (map.marked_column >= 0)
    lines.push_back(std::string(names + 1 + static_cast<std::size_t>(map.marked_column), ' ') + "^");
  return lines;
}

/// Pixels of a map: names, cells, the gap before the column that is apart.
double width_of(const HeatMap& map, int cell) {
  const double names = letter_width * static_cast<double>(longest_name(map));
  const double cells = static_cast<double>(map.columns) * cell + (map.apart >= 0 ? cell / 2.0 : 0);
  return std::max(names + cells, letter_width * static_cast<double>(map.title.size()));
}

std::string rectangle(double x, double y, double width, double height, const std::string& style,
                      const std::string& inside = "") {
  std::array<char, 96> place;
  std::snprintf(place.data(), place.size(), "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" ", x, y, width,
                height);
  return text(place.data(), style, inside.empty() ? std::string("/>\n") : text(">", inside, "</rect>\n"));
}

std::string label_at(double x, double y, const std::string& words, const char* style = "") {
  return text("<text x=\"", std::lround(x), "\" y=\"", std::lround(y), "\" ", style, ">", escaped(words), "</text>\n");
}

std::string svg_of(const HeatMap& map, double largest, int cell) {
  const double left = letter_width * static_cast<double>(longest_name(map)), top = line_height;
  std::string svg = label_at(left, top - 5, map.title, map.marked ? "fill=\"#c1121f\" font-weight=\"bold\"" : "");
  const auto x_of = [&](std::int64_t column) {
    return left + static_cast<double>(column) * cell + (map.apart >= 0 && column >= map.apart ? cell / 2.0 : 0);
  };
  for (std::int64_t row = 0; row < map.rows; ++row) {
    const double y = top + static_cast<double>(row) * cell;
    if (!map.row_names.empty()) svg += label_at(0, y + cell - 4, map.row_names[static_cast<std::size_t>(row)]);
    for (std::int64_t column = 0; column < map.columns; ++column) {
      const double value = value_at(map, row, column);
      std::array<char, 48> told;
      std::snprintf(told.data(), told.size(), "<title>%.3f</title>", value);
      svg += rectangle(x_of(column), y, cell, cell, text("fill=\"", colour_of(value, largest), "\" stroke=\"#ccc\""),
                       told.data());
    }
  }
  const double bottom = static_cast<double>(map.rows) * cell;
  if (map.marked)
    svg += rectangle(left - 2, top - 2, x_of(map.columns - 1) + cell - left + 4, bottom + 4,
                     "fill=\"none\" stroke=\"#c1121f\" stroke-width=\"2\"");
  if (map.marked_column >= 0) svg += rectangle(x_of(map.marked_column), top + bottom + 2, cell, 4, "fill=\"#c1121f\"");
  return svg;
}

}  // namespace

double largest_of(std::span<const HeatMap> maps) {
  double largest = 0;
  for (const HeatMap& map : maps)
    for (const double value : map.values) largest = std::max(largest, value);
  return largest;
}

std::string to_text(std::span<const HeatMap> maps, double largest, std::size_t width) {
  std::string result;
  std::vector<std::string> lines;  // of the row of maps that is being filled
  const auto finish = [&] {
    for (std::string& line : lines) {
      line.erase(line.find_last_not_of(' ') + 1);
      result += line + "\n";
    }
    lines.clear();
  };
  for (const HeatMap& map : maps) {
    const std::vector<std::string> next = lines_of(map, largest);
    std::size_t needed = 0, used = 0;
    for (const std::string& line : next) needed = std::max(needed, line.size());
    for (const std::string& line : lines) used = std::max(used, line.size() + 2);
    if (used > 0 && used + needed > width) finish(), used = 0;
    lines.resize(std::max(lines.size(), next.size()));
    for (std::size_t k = 0; k < next.size(); ++k) {
      lines[k].resize(used, ' ');
      lines[k] += next[k];
    }
  }
  finish();
  return result;
}

std::string to_svg(std::span<const HeatMap> maps, double largest, int cell, int width) {
  std::string inside;
  double x = 4, y = 0, row_height = 0, right = 0;
  for (const HeatMap& map : maps) {
    const double needed = width_of(map, cell);
    if (x > 4 && x + needed > width) x = 4, y += row_height, row_height = 0;
    inside += text("<g transform=\"translate(", std::lround(x), " ", std::lround(y), ")\">\n",
                   svg_of(map, largest, cell), "</g>\n");
    x += needed + space;
    right = std::max(right, x);
    row_height = std::max(row_height, line_height + static_cast<double>(map.rows) * cell + space);
  }
  return text("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", std::lround(right), "\" height=\"",
              std::lround(y + row_height), "\" font-family=\"sans-serif\" font-size=\"11\">\n", inside, "</svg>\n");
}

}  // namespace retrace
