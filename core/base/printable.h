// Makes text from files and users safe to print, and numbers fit to.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace retrace {

/// The control code that begins a text: C0, DEL and C1 (also as a byte that is not UTF-8), a separator of lines
/// (U+2028, U+2029), or a mark that turns the direction of what is around it (U+061C, U+200E, U+200F, U+202A to U+202E,
/// U+2066 to U+2069). Nothing for other texts.
std::optional<std::uint32_t> control_at(std::string_view text);

/// The text with its control codes escaped, as in "\x1b" or "\u202e", so that a name in a file can neither control the
/// terminal, nor break a line, nor show itself as another one.
std::string printable(std::string_view text);
/// The same for a text of several lines: tabs and ends of lines ("\n" and "\r\n") stay.
std::string printable_lines(std::string_view text);

/// The value, but NaN without its sign: printf and streams write the NaN that x86 processors make as "-nan".
template <class T> T without_nan_sign(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  return value;
}

}  // namespace retrace
