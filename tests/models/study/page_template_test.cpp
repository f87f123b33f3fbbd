// The page that is part of the program.
#include <gtest/gtest.h>
#include <retrace/models/study/page_template.h>

#include <string>

namespace {

using namespace retrace;

int count_of(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(PageTemplate, IsAtMost180KB) { EXPECT_LE(page_template().size(), 180'000u); }

TEST(PageTemplate, IsOneFileWithOnePlaceForItsData) {
  const std::string_view page = page_template();
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(count_of(page, "@DATA@"), 1);
  EXPECT_EQ(count_of(page, "@MADE_BY@"), 1);
  EXPECT_EQ(count_of(page, "@STYLE@") + count_of(page, "@PROGRAMS@") + count_of(page, "@HASH_OF"), 0);
  EXPECT_EQ(count_of(page, "<script"), 2) << "the programs and what starts them; the data bring a third";
  EXPECT_EQ(count_of(page, "</script>"), 2);
}

// packed_programs_test.mjs looks at the packed programs.
TEST(PageTemplate, LoadsNothing) {
  const std::string_view page = page_template();
  for (const std::string_view loading :
       {"\nimport ", "import(", "fetch(", "XMLHttpRequest", "@import", "src=\"", "url("})
    EXPECT_EQ(count_of(page, loading), 0) << loading;
}

TEST(PageTemplate, HoldsItsProgramsPackedByGzip) {
  EXPECT_NE(page_template().find("id=\"programs\">H4sI"), std::string::npos) << "H4sI is how base64 of gzip begins";
}

}  // namespace
