// Fields of .csv files, as they are written.
#pragma once

#include <string>
#include <string_view>

namespace retrace {

/// A field of a .csv file (RFC 4180), in quotes where it needs them to be read again as it is.
std::string csv_field(std::string_view words);

}  // namespace retrace
