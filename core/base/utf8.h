// UTF-8 (RFC 3629): no surrogates, nothing overlong, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace retrace {

/// The length in bytes of the code point at the start of `bytes`; 0 if there is none.
std::size_t utf8_length(std::string_view bytes);
/// Whether the bytes are UTF-8 from the first to the last.
bool is_utf8(std::string_view bytes);
/// Appends a code point of at most U+10FFFF.
void append_utf8(std::string& text, std::uint32_t code_point);

}  // namespace retrace
