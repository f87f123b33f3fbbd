#include <retrace/models/formats/digits.h>

#include <algorithm>
#include <array>
#include <charconv>
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

std::string in_full(double value) {
  std::array<char, 64> digits{};
  char *const begin = digits.data(), *const end = begin + digits.size();
  const double size = std::abs(value);
  const bool plain = value == 0 || (size >= 1e-5 && size < 1e16);
  return {begin,
          (plain ? std::to_chars(begin, end, value, std::chars_format::fixed) : std::to_chars(begin, end, value)).ptr};
}

std::string in_digits_of(double value, double spread) {
  constexpr double fewest = 3, of_spread = 5, most = std::numeric_limits<double>::max_digits10;
  if (!std::isfinite(value)) return "-";
  const auto exponent = [](double number) { return number == 0 ? 0.0 : std::floor(std::log10(std::abs(number))); };
  const double digits = std::clamp(exponent(value) - exponent(spread) + of_spread, fewest, most);
  return in_digits(value, ("%." + std::to_string(static_cast<int>(digits)) + "g").c_str());
}

}  // namespace retrace
