#include <retrace/core/base/printable.h>
#include <retrace/core/base/utf8.h>

#include <algorithm>

namespace retrace {
namespace {

bool is_control(std::uint32_t code) {
  const auto in = [code](std::uint32_t first, std::uint32_t last) { return first <= code && code <= last; };
  return code < 0x20 || in(0x7f, 0x9f) || code == 0x061c || in(0x200e, 0x200f) || in(0x2028, 0x202e) ||
         in(0x2066, 0x2069);
}

// Of UTF-8 of up to three bytes; a byte that is not UTF-8 counts as itself, as terminals of eight bits take it.
std::uint32_t code_at(std::string_view text, std::size_t length) {
  const auto bits = [text](std::size_t k, unsigned mask) { return static_cast<unsigned char>(text[k]) & mask; };
  if (length == 2) return bits(0, 0x1f) << 6 | bits(1, 0x3f);
  if (length == 3) return bits(0, 0x0f) << 12 | bits(1, 0x3f) << 6 | bits(2, 0x3f);
  return bits(0, 0xff);
}

void append_escaped(std::string& result, const char* start, std::uint32_t code, int digits) {
  result += start;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) result += "0123456789abcdef"[code >> shift & 15];
}

void append_in_words(std::string& result, std::uint32_t code) {
  code < 0x100 ? append_escaped(result, "\\x", code, 2) : append_escaped(result, "\\u", code, 4);
}

// The text with each control code as append(result, code, the text from there) writes it.
template <class Append> std::string with_controls(std::string_view text, Append&& append) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    if (const std::optional<std::uint32_t> code = control_at(text))
      append(result, *code, text);
    else
      result += text.substr(0, length);
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace

std::optional<std::uint32_t> control_at(std::string_view text) {
  const std::size_t length = utf8_length(text);
  if (text.empty() || length == 4) return std::nullopt;
  const std::uint32_t code = code_at(text, length);
  return is_control(code) ? std::optional(code) : std::nullopt;
}

std::string printable(std::string_view text) {
  return with_controls(
      text, [](std::string& result, std::uint32_t code, std::string_view) { append_in_words(result, code); });
}

std::string printable_lines(std::string_view text) {
  return with_controls(text, [](std::string& result, std::uint32_t code, std::string_view rest) {
    if (code == '\n' || code == '\t' || rest.starts_with("\r\n"))
      result += static_cast<char>(code);
    else
      append_in_words(result, code);
  });
}

}  // namespace retrace
