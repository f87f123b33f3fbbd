// The study page before a trace is put into it.
#pragma once

#include <string_view>

namespace retrace {

/// One HTML file with its style and its programs, which are packed; `@DATA@` stands where the trace belongs, and
/// `@MADE_BY@` where the command does that made it.
std::string_view page_template();

}  // namespace retrace
