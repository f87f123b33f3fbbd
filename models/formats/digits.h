// Numbers in print.
#pragma once

#include <string>

namespace retrace {

/// As printf would write it; "-" for a number that is not finite.
std::string in_digits(double value, const char* format = "%.3g");
/// With six digits, or with as many more as it takes to read the same number again.
std::string in_all_digits(double value);

/// The shortest digits from which the number can be read again, and no exponent where numbers have up to 16 digits.
std::string in_full(double value);
/// With as many digits as show a ten-thousandth of `spread`, by which numbers of this kind differ.
std::string in_digits_of(double value, double spread);

}  // namespace retrace
