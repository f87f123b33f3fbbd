#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>

#include <cstdio>

namespace retrace {

std::string to_text(double number) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", without_nan_sign(number));
  return buffer;
}

std::string to_text(bool truth) { return truth ? "true" : "false"; }
std::string to_text(long long number) { return std::to_string(number); }
std::string to_text(unsigned long long number) { return std::to_string(number); }

std::string concatenated(std::initializer_list<std::string_view> parts) {
  std::string result;
  for (std::string_view part : parts) result += part;
  return result;
}

}  // namespace retrace
