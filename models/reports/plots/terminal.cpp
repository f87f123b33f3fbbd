#include <retrace/core/base/error.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/plots/range.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

constexpr std::string_view after_label = " |";

/// The number at each row, all equally wide.
std::vector<std::string> row_labels(const Plot& plot, const Range& y, int rows) {
  constexpr std::size_t narrowest = 9;
  std::vector<std::string> labels;
  std::size_t width = narrowest;
  for (int row = 0; row < rows; ++row) {
    const double place = y.high - (y.high - y.low) * row / (rows - 1), value = plot.log_y ? std::pow(10, place) : place;
    const bool is_offset = !plot.log_y && std::abs(value) > 100 * (y.high - y.low);
    labels.push_back(is_offset ? in_digits_of(value, y.high - y.low) : in_digits(value, "%.4g"));
    width = std::max(width, labels.back().size());
  }
  for (std::string& label : labels) label.insert(0, width - label.size(), ' ');
  return labels;
}

}  // namespace

std::string to_text(const Plot& plot, int columns, int rows) {
  const Range x = x_range(plot), y = y_range(plot);
  const std::vector<std::string> labels = row_labels(plot, y, rows);
  const int width = columns - static_cast<int>(labels.front().size() + after_label.size());
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
  for (std::size_t row = 0; row < lines.size(); ++row) result += text(labels[row], after_label, lines[row], "\n");
  for (const Level& level : plot.levels) result += text("  . ", level.name, " ", in_digits_of(level.y, y.high - y.low));
  if (!plot.levels.empty()) result += "\n";
  return result;
}

}  // namespace retrace
