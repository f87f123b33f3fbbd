// Base64 (RFC 4648, with + and / and padding): bytes within text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace retrace {

/// Four digits for each three bytes, the last ones filled with "=".
std::string base64(std::span<const std::byte> bytes);

}  // namespace retrace
