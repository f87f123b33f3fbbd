// Plain words in a page.
#pragma once

#include <string>

namespace retrace {

/// With &, < and > as HTML and SVG write them.
std::string escaped(const std::string& plain);

}  // namespace retrace
