// Matrices as shades, for a page and for a terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace retrace {

/// rows x columns numbers from 0 on, row by row.
struct HeatMap {
  std::string title;  // above it
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;
  std::vector<std::string> row_names = {};  // left of it; none, or one per row
  std::int64_t apart = -1;                  // a column that is set apart from those before it; -1: none
  bool marked = false;                      // in red
  std::int64_t marked_column = -1;          // with a red mark below it; -1: none
};

/// The largest number in all maps; 0 without maps.
double largest_of(std::span<const HeatMap> maps);
/// One character per number, from ' ' (0) to '@' (`largest`); maps side by side, broken into rows of maps of at most
/// `width` characters. A map that is marked has a '*' after its title, a marked column a '^' below it.
std::string to_text(std::span<const HeatMap> maps, double largest, std::size_t width = 100);
/// An <svg> element with the maps side by side, from white (0) to dark blue (`largest`), cells of `cell` pixels; the
/// number is shown under the pointer.
std::string to_svg(std::span<const HeatMap> maps, double largest, int cell = 14, int width = 1100);

}  // namespace retrace
