// Numbers in print.
#pragma once

#include <string>

namespace retrace {

/// As printf would write it; "-" for a number that is not finite.
std::string in_digits(double value, const char* format = "%.3g");
/// With six digits, or with as many more as it takes to read the same number again.
std::string in_all_digits(double value);

}  // namespace retrace
