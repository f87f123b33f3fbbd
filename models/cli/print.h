// Aligned lines for a terminal.
#pragma once

#include <array>
#include <cstdio>
#include <ostream>

namespace retrace {

/// As printf would write it; at most 255 characters.
void print(std::ostream& out, auto... format_and_values) {
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(), format_and_values...);
  out << line.data();
}

}  // namespace retrace
