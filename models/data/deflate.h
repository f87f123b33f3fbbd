// Data as gzip files (RFC 1952), by zlib where the build found it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace retrace {

/// The bytes, packed as a gzip file; nothing in a build without zlib.
std::optional<std::string> gzip(std::string_view bytes);

}  // namespace retrace
