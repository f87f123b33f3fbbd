#include <retrace/models/formats/digits.h>

#include <array>
#include <cmath>
#include <cstdio>

namespace retrace {

std::string in_digits(double value, const char* format) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 64> digits;
  std::snprintf(digits.data(), digits.size(), format, value);
  return digits.data();
}

}  // namespace retrace
