#include <gtest/gtest.h>
#include <retrace/core/base/printable.h>
#include <retrace/core/base/utf8.h>

namespace retrace {
namespace {

TEST(Printable, ControlCodesAreEscaped) {
  EXPECT_EQ(printable("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
  EXPECT_EQ(printable(std::string_view("a\0b\n\x7f", 5)), "a\\x00b\\x0a\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\x9b2J")
      << "U+009B begins a sequence, too";
}

/// A name with these shows itself as another one.
TEST(Printable, MarksThatTurnTheDirectionAreEscaped) {
  for (std::uint32_t code = 0x80; code < 0x3000; ++code) {
    std::string letter, escaped = "\\u";
    append_utf8(letter, code);
    for (int shift = 12; shift >= 0; shift -= 4) escaped += "0123456789abcdef"[code >> shift & 15];
    if (code < 0xa0) escaped = "\\x" + escaped.substr(4);
    const bool turns = code == 0x061c || code == 0x200e || code == 0x200f || (0x202a <= code && code <= 0x202e) ||
                       (0x2066 <= code && code <= 0x2069);
    const bool ends_a_line = code == 0x2028 || code == 0x2029;
    EXPECT_EQ(printable("a" + letter + "b"), "a" + (turns || ends_a_line || code < 0xa0 ? escaped : letter) + "b");
  }
}

TEST(Printable, BytesThatAreNotUtf8AreNoControlCodesEither) {
  EXPECT_EQ(printable("\x9b[2J"), "\\x9b[2J") << "for terminals of eight bits";
  EXPECT_EQ(printable("\xe2\x80"), "\xe2\\x80");
  EXPECT_EQ(printable("\xff\xc2"), "\xff\xc2");
}

TEST(Printable, LinesKeepTheirEndsAndTabs) {
  EXPECT_EQ(printable_lines("a\tb\r\nc\n\x1b[2J\rd\xe2\x80\xae"), "a\tb\r\nc\n\\x1b[2J\\x0dd\\u202e");
  EXPECT_EQ(printable_lines("\r"), "\\x0d");
}

TEST(Printable, OtherTextIsLeftAsItIs) {
  for (const char* text : {"", "encoder.mha.query.weight", "\xc3\xa9t\xc3\xa9", "\xc2\xa0", "\xc2", "\xe2\x82\xac"})
    EXPECT_EQ(printable(text), text);
}

}  // namespace
}  // namespace retrace
