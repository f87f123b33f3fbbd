// Traces as pages.
#include <gtest/gtest.h>
#include <retrace/core/core.h>
#include <retrace/core/files/base64.h>
#include <retrace/core/trace/trace_json.h>
#include <retrace/models/data/deflate.h>
#include <retrace/models/study/page.h>
#include <retrace/models/study/page_data.h>
#include <retrace/models/study/page_template.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <span>

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

std::string data_of(const Trace& trace) {
  const std::string data = data_to_pack(trace);
  return data.substr(0, data.find('\n'));
}

TEST(StudyPage, HoldsItsTrace) {
  const Trace trace = attention_trace("attention");
  const auto data = Json::parse(data_of(trace));
  EXPECT_EQ(data["trace"]["title"], "attention");
  EXPECT_GE(data["trace"]["records"].size(), 5u);
  EXPECT_GE(data["tensors"].size(), 10u);
  EXPECT_NE(page_of(trace).find(data_element(trace)), std::string::npos);
}

TEST(StudyPage, HoldsTheFirstBytesOfAllNumbersFirst) {
  Trace trace;
  for (const Tensor& value : {tensor({1, -2}, f64), tensor({1}, f32)}) trace.nodes.emplace_back().value.values = value;
  const std::string data = data_to_pack(trace), words = data.substr(data.find('\n') + 1);
  ASSERT_EQ(words.size(), 3u * 8);
  EXPECT_EQ(words.substr(6 * 3), std::string("\xf0\0\0\x3f\xc0\0", 6)) << "1, -2 and 1 with four zeros after it";
}

TEST(StudyPage, IsPackedWhereTheBuildCanPack) {
  const Trace trace = attention_trace("attention");
  const std::string element = data_element(trace);
  const auto packed = gzip(data_to_pack(trace));
  if (packed)
    EXPECT_EQ(element, text("<script type=\"application/gzip\" id=\"trace-data\">",
                            base64(std::as_bytes(std::span(*packed))), "</script>"));
  else
    EXPECT_EQ(element, text("<script type=\"application/json\" id=\"trace-data\">", page_data(trace), "</script>"));
}

TEST(StudyPage, OfTwoHeadsAndFourTokensIsAtMost400KB) {
  EXPECT_LE(page_of(attention_trace("attention")).size(), 400'000u);
}

TEST(StudyPage, IsNotEndedByANameInIt) {
  const std::string title = "</script><!-- \"'&\\ @DATA@ \u00fc\n";
  const std::string page = page_of(attention_trace(title));
  EXPECT_EQ(Json::parse(data_of(attention_trace(title)))["trace"]["title"], title);
  EXPECT_EQ(Json::parse(page_data(attention_trace(title)))["trace"]["title"], title);
  EXPECT_EQ(page_data(attention_trace(title)).find('<'), std::string::npos);
  EXPECT_TRUE(page.ends_with(page_template().substr(page_template().find("@DATA@") + 6)));
}

TEST(StudyPage, SaysWhatMadeItAsText) {
  const std::string page = page_of(attention_trace("attention"), "retrace study --expr 'a < b @DATA@'");
  EXPECT_NE(page.find("<p class=\"maker\">retrace study --expr 'a &lt; b @DATA@'</p>"), std::string::npos);
  EXPECT_NE(page.find("<script type=\"application/"), std::string::npos);
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
