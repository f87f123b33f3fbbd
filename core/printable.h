// Text from files and users that is about to be shown.
#pragma once

#include <string>
#include <string_view>

namespace retrace {

/// The text with its control codes (C0, DEL and C1) as "\x1b", so that a name in a file cannot steer a terminal or
/// break a line.
std::string printable(std::string_view text);

}  // namespace retrace
