#include <gtest/gtest.h>
#include <retrace/models/data/file_text.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

TEST(FileText, BytesThatAreNoUtf8AreRefusedWhereTheyAre) {
  for (const char* good :
       {"", "plain", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"})
    check_utf8(good, "a text");
  for (const char* bad :
       {"\x80", "\xff", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3", "\xe6\xb0", "\xc3(", "\xf0\x9f\x8d"})
    EXPECT_THROW(check_utf8(bad, "a text"), ValueError) << bad;
  expect_error<ValueError>(
      [] { check_utf8("one\ntwo\xe9 three", "a text"); },
      "a text is not UTF-8: byte 7, in line 2, begins no character; convert it: iconv -f WINDOWS-1252 "
      "-t UTF-8, if Windows wrote it");
}

TEST(FileText, AByteOrderMarkIsNoLetter) {
  EXPECT_EQ(utf8_text("\xef\xbb\xbf"
                      "abc",
                      "a text"),
            "abc");
  EXPECT_EQ(utf8_text("\xef\xbb\xbf", "a text"), "");
  EXPECT_EQ(utf8_text("a\ufeff", "a text"), "a\ufeff") << "only at the beginning";
}

TEST(FileText, ANameThatCannotBeStoredIsRefused) {
  check_storable("gr\u00f6\u00dfe.csv", "f");
  expect_error<ValueError>(
      [] {
        check_storable(
            "gr\xf6\xdf"
            "e.csv",
            "f");
      },
      "f: the name of the file gr\xf6\xdf"
      "e.csv is not UTF-8, and a stored model would not find it again; rename it");
}

TEST(FileText, LinesAreCountedWhateverEndsThem) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string lines = "a" + end + end + "b";
    EXPECT_EQ(line_of(lines, 0), 1);
    EXPECT_EQ(line_of(lines, lines.size() - 1), 3);
  }
}

}  // namespace
}  // namespace retrace
