// Plain text in a page.
#pragma once

#include <string>

namespace retrace {

/// Escapes &, < and > for HTML and SVG, and control codes as they are printed (printable_lines).
std::string escaped(const std::string& plain);

}  // namespace retrace
