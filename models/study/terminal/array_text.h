// Arrays in a terminal: numbers in columns, or one character per element.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/trace/trace.h>

namespace retrace {

/// How arrays are drawn.
struct ArrayStyle {
  int columns = 80;     // of the terminal
  bool colour = false;  // ANSI colours beside the characters
  int lines = 0;        // that a step may have; 0: as many as it takes
};

/// The elements with 4 significant digits, a row per line, with its name before it if there are names. Long axes are
/// cut in the middle and say so. A tensor that was not captured gives its statistics and its first elements.
std::string numbers_text(const Capture& capture, const ArrayStyle& style = {},
                         const std::vector<std::string>& row_names = {});
/// Two characters per element: the sign, and its size on the ramp " .:-=+*#%@" from 0 to the largest. X is NaN, I
/// and -I are infinities, as the line below then says. The range stands below. Higher ranks are drawn as matrices one
/// below the other.
std::string heat_map_text(const Capture& capture, const ArrayStyle& style = {});

/// The characters that stand for sizes from 0 to the largest.
inline constexpr std::string_view heat_ramp = " .:-=+*#%@";
/// An element of a heat map, two characters wide.
std::string heat_cell(double element, double largest, bool colour);
/// The positions along an axis that are shown; -1 stands for those that are cut out of the middle.
std::vector<std::int64_t> shown_positions(std::int64_t extent, std::int64_t limit);

}  // namespace retrace
