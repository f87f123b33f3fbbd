// Aligned lines for a terminal.
#pragma once

#include <array>
#include <cstdio>
#include <ostream>

#include <retrace/core/base/printable.h>

namespace retrace {

/// As printf would write it, but NaN without a sign; at most 255 characters.
void print(std::ostream& out, auto... format_and_values) {
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(), without_nan_sign(format_and_values)...);
  out << line.data();
}

}  // namespace retrace
