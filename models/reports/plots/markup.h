// Plain text in a page.
#pragma once

#include <string>

namespace retrace {

/// Escapes &, < and > for HTML and SVG.
std::string escaped(const std::string& plain);

}  // namespace retrace
