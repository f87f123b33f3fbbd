#include <retrace/core/error.h>

#include <cstdio>

namespace retrace {

std::string to_text(double number) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", number);
  return buffer;
}

std::string to_text(bool truth) { return truth ? "true" : "false"; }

}  // namespace retrace
