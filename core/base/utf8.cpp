#include <retrace/core/base/utf8.h>

namespace retrace {

// Table 3-7 of the Unicode standard.
std::size_t utf8_length(std::string_view bytes) {
  const auto byte = [bytes](std::size_t k) { return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U; };
  const auto in = [](unsigned value, unsigned first, unsigned last) { return first <= value && value <= last; };
  const unsigned lead = byte(0);
  if (bytes.empty()) return 0;
  if (lead < 0x80) return 1;
  const std::size_t length = in(lead, 0xC2, 0xDF) ? 2 : in(lead, 0xE0, 0xEF) ? 3 : in(lead, 0xF0, 0xF4) ? 4 : 0;
  if (length == 0) return 0;
  // Excludes overlong forms, surrogates and code points above U+10FFFF.
  const unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (!in(byte(1), lowest, highest)) return 0;
  for (std::size_t k = 2; k < length; ++k)
    if (!in(byte(k), 0x80, 0xBF)) return 0;
  return length;
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

void append_utf8(std::string& text, std::uint32_t code_point) {
  const auto append = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto continuation = [&](int shift) { append(0x80 | ((code_point >> shift) & 0x3F)); };
  if (code_point < 0x80) {
    append(code_point);
  } else if (code_point < 0x800) {
    append(0xC0 | (code_point >> 6));
    continuation(0);
  } else if (code_point < 0x10000) {
    append(0xE0 | (code_point >> 12));
    continuation(6);
    continuation(0);
  } else {
    append(0xF0 | (code_point >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

}  // namespace retrace
