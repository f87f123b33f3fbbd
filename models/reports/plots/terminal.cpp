#include <retrace/core/error.h>
#include <retrace/models/reports/plots/range.h>

#include <array>
#include <cmath>
#include <cstdio>

namespace retrace {
namespace {

constexpr int margin = 11;  // for the numbers of the y axis

std::string padded(double value) {
  std::array<char, 32> digits;
  std::snprintf(digits.data(), digits.size(), "%9.4g |", value);
  return digits.data();
}

}  // namespace

std::string to_text(const Plot& plot, int columns, int rows) {
  const Range x = x_range(plot), y = y_range(plot);
  const int width = columns - margin;
  std::vector<std::string> lines(static_cast<std::size_t>(rows), std::string(static_cast<std::size_t>(width), ' '));
  const auto row_of = [&](double value) {
    return static_cast<std::size_t>(std::lround((1 - y.part(y_place(plot, value))) * (rows - 1)));
  };
  const auto column_of = [&](double value) {
    return static_cast<std::size_t>(std::lround(x.part(value) * (width - 1)));
  };
  for (const Level& level : plot.levels) lines[row_of(level.y)].assign(static_cast<std::size_t>(width), '.');
  std::string legend;
  for (std::size_t which = 0; which < plot.curves.size(); ++which) {
    const Curve& curve = plot.curves[which];
    const char mark = static_cast<char>('1' + which % 9);
    legend += std::string("  ") + mark + " " + curve.name;
    for (std::size_t k = 0; k < curve.x.size(); ++k)
      if (std::isfinite(curve.x[k]) && std::isfinite(y_place(plot, curve.y[k])))
        lines[row_of(curve.y[k])][column_of(curve.x[k])] = mark;
  }
  std::string result = text(plot.title, " (", plot.x_label, ")", legend, "\n");
  for (std::size_t row = 0; row < lines.size(); ++row) {
    const double place = y.high - (y.high - y.low) * static_cast<double>(row) / (rows - 1);
    result += padded(plot.log_y ? std::pow(10, place) : place) + lines[row] + "\n";
  }
  for (const Level& level : plot.levels) result += text("  . ", level.name, " ", level.y);
  if (!plot.levels.empty()) result += "\n";
  return result;
}

}  // namespace retrace
