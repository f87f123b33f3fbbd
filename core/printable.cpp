#include <retrace/core/printable.h>

namespace retrace {
namespace {

void append_escaped(std::string& result, unsigned char code) {
  constexpr const char* digits = "0123456789abcdef";
  result += "\\x";
  result += digits[code >> 4];
  result += digits[code & 15];
}

// Whether a C1 control code (U+0080 to U+009F, two bytes in UTF-8) begins here.
bool begins_c1(std::string_view text, std::size_t i) {
  return text[i] == '\xc2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_c1(text, i))
      ++i, append_escaped(result, static_cast<unsigned char>(text[i]));
    else if (const auto code = static_cast<unsigned char>(text[i]); code < 0x20 || code == 0x7f)
      append_escaped(result, code);
    else
      result += text[i];
  }
  return result;
}

}  // namespace retrace
