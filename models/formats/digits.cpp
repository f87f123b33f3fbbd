#include <retrace/models/formats/digits.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace retrace {

std::string in_digits(double value, const char* format) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 64> digits;
  std::snprintf(digits.data(), digits.size(), format, value);
  return digits.data();
}

std::string in_all_digits(double value) {
  std::array<char, 64> digits;
  constexpr int first = 6, enough = std::numeric_limits<double>::max_digits10;
  for (int count = first; count <= enough; ++count) {
    std::snprintf(digits.data(), digits.size(), "%.*g", count, value);
    if (std::strtod(digits.data(), nullptr) == value) break;
  }
  return digits.data();
}

}  // namespace retrace
