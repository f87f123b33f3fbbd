// Makes text from files and users safe to print, and numbers fit to.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace retrace {

/// The text with its control codes (C0, DEL and C1) escaped, as in "\x1b", so that a name in a file can neither control
/// the terminal nor break a line.
std::string printable(std::string_view text);

/// The value, but NaN without its sign: printf and streams write the NaN that x86 processors make as "-nan".
template <class T> T without_nan_sign(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  return value;
}

}  // namespace retrace
