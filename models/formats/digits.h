// Numbers in print.
#pragma once

#include <string>

namespace retrace {

/// As printf would write it; "-" for a number that is not finite.
std::string in_digits(double value, const char* format = "%.3g");

}  // namespace retrace
