#include <gtest/gtest.h>
#include <retrace/core/printable.h>

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

TEST(Printable, OtherTextIsLeftAsItIs) {
  for (const char* text : {"", "encoder.mha.query.weight", "\xc3\xa9t\xc3\xa9", "\xc2\xa0", "\xc2", "\xe2\x82\xac"})
    EXPECT_EQ(printable(text), text);
}

}  // namespace
}  // namespace retrace
