// The study page before a trace is put into it.
#pragma once

#include <string_view>

namespace retrace {

/// One HTML file with its style and its programs, which are packed; `@DATA@` stands where the trace belongs.
std::string_view page_template();

}  // namespace retrace
