// Makes text from files and users safe to print.
#pragma once

#include <string>
#include <string_view>

namespace retrace {

/// The text with its control codes (C0, DEL and C1) escaped, as in "\x1b", so that a name in a file can neither control
/// the terminal nor break a line.
std::string printable(std::string_view text);

}  // namespace retrace
