// Traces as pages.
#include <gtest/gtest.h>
#include <retrace/core/core.h>
#include <retrace/models/study/page.h>
#include <retrace/models/study/page_template.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>

namespace {

using namespace retrace;

Trace attention_trace(const std::string& title) {
  const DtypeScope dtype(f64);
  Random random(1);
  const MultiHeadAttention attention(8, random, {.heads = 2});
  const Tensor x = random.normal({1, 4, 8});
  Tape tape({.keep = true});
  const Tensor loss = sum(square(attention(x).y));
  return trace_backward(tape, loss, {.title = title, .names = names_of(attention)});
}

std::string data_in(const std::string& page) {
  const std::string mark = "id=\"trace-data\">";
  const std::size_t start = page.find(mark) + mark.size();
  return page.substr(start, page.find("</script>", start) - start);
}

TEST(StudyPage, HoldsItsTrace) {
  const auto data = Json::parse(data_in(page_of(attention_trace("attention"))));
  EXPECT_EQ(data["trace"]["title"], "attention");
  EXPECT_GE(data["trace"]["records"].size(), 5u);
  EXPECT_GE(data["tensors"].size(), 10u);
}

TEST(StudyPage, OfTwoHeadsAndFourTokensIsAtMost400KB) {
  EXPECT_LE(page_of(attention_trace("attention")).size(), 400'000u);
}

TEST(StudyPage, IsNotEndedByANameInIt) {
  const std::string title = "</script><!-- \"'&\\ @DATA@ \u00fc\n";
  const std::string page = page_of(attention_trace(title));
  EXPECT_EQ(Json::parse(data_in(page))["trace"]["title"], title);
  EXPECT_TRUE(page.ends_with(page_template().substr(page_template().find("@DATA@") + 6)));
}

TEST(StudyPage, SaysWhatMadeItAsText) {
  const std::string page = page_of(attention_trace("attention"), "retrace study --expr 'a < b @DATA@'");
  EXPECT_NE(page.find("<p class=\"maker\">retrace study --expr 'a &lt; b @DATA@'</p>"), std::string::npos);
  EXPECT_EQ(Json::parse(data_in(page))["trace"]["title"], "attention");
}

TEST(StudyPage, IsWrittenWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const Trace trace = attention_trace("attention");
  write_page(trace, folder / "page.html");
  EXPECT_EQ(file_bytes(folder / "page.html"), page_of(trace));
  std::filesystem::create_directory(folder / "taken.html");
  const std::string message = message_of<FileError>([&] { write_page(trace, folder / "taken.html"); });
  EXPECT_NE(message.find("write_page: " + (folder / "taken.html")), std::string::npos) << message;
  EXPECT_NE(message.find("is a folder, not a file; choose another path"), std::string::npos) << message;
  EXPECT_THROW(write_page(trace, folder / "missing/page.html"), FileError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2) << "what was begun is removed";
}

}  // namespace
