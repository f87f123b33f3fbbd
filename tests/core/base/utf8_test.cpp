#include <gtest/gtest.h>
#include <retrace/core/base/utf8.h>

#include <string>

namespace retrace {
namespace {

TEST(Utf8, EveryCodePointIsAppendedAndMeasured) {
  for (std::uint32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    std::string text;
    append_utf8(text, code_point);
    const bool surrogate = 0xD800 <= code_point && code_point <= 0xDFFF;
    ASSERT_EQ(utf8_length(text), surrogate ? 0 : text.size()) << code_point;
    ASSERT_EQ(is_utf8(text + "z"), !surrogate) << code_point;
    text.pop_back();
    ASSERT_EQ(utf8_length(text), 0U) << code_point;
  }
}

TEST(Utf8, OtherBytesAreNone) {
  for (const char* text : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3z", "\xE2\x82z"}) {
    EXPECT_EQ(utf8_length(text), 0U) << text;
    EXPECT_FALSE(is_utf8(text)) << text;
  }
  EXPECT_EQ(utf8_length(""), 0U);
  EXPECT_TRUE(is_utf8(""));
}

}  // namespace
}  // namespace retrace
