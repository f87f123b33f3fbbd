// Plots of curves, as SVG for a page and as characters for a terminal.
#pragma once

#include <string>
#include <vector>

namespace retrace {

/// Points in the order of x. If `low` and `high` are given, one per point, the band between them is drawn, too.
struct Curve {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low = {}, high = {};
};

/// A dashed line over the whole width: a value to compare with.
struct Level {
  std::string name;
  double y;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::vector<Curve> curves;
  std::vector<Level> levels = {};
  bool log_y = false;  // only numbers above 0 are drawn
};

/// An <svg> element of width x height pixels: axes with round numbers, curves in colours of their own and, from the
/// ninth on, dashed, a legend (beside the curves if there are more than four). Points that are not finite are left out.
std::string to_svg(const Plot& plot, int width = 560, int height = 360);
/// Several plots in one <svg>, `in_a_row` of them side by side.
std::string to_svg(const std::vector<Plot>& plots, int in_a_row = 2, int width = 560, int height = 360);
/// A plot of `columns` x `rows` characters: curves are drawn by their number (1, 2, ...), levels by dots.
std::string to_text(const Plot& plot, int columns = 72, int rows = 14);

}  // namespace retrace
