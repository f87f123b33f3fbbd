#include <gtest/gtest.h>
#include <retrace/models/reports/evaluation/text_report.h>
#include <retrace/models/training/text/text_run.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/temporary_folder.h>

#include <fstream>
#include <string>

namespace retrace {
namespace {

class TextReports : public testing::Test {
 protected:
  std::string write(const char* name, const std::string& content) const {
    std::ofstream(own_.path() / name) << content;
    return own_ / name;
  }
  /// Trains a little on the source, stores the model and returns the result.
  FitResult train(const TextSource& source) {
    TextRun run = prepare_text({.task = "text",
                                .model = {.name = "gru", .sizes = {.hidden = 16}},
                                .task_options = {.length = 8},
                                .text = source,
                                .fit = {.steps = 40, .batch = 4, .learning_rate = 2e-2}});
    run.train();
    run.save_weights(weights_);
    return run.fit;
  }
  static std::string lines(int count) {
    std::string result;
    for (int line = 0; line < count; ++line) result += line % 3 == 0 ? "row row your boat\n" : "gently, 10 times\n";
    return result;
  }

  TemporaryFolder own_;
  std::string weights_ = own_ / "weights.safetensors";
};

TEST_F(TextReports, RepeatTheTestOfTheTraining) {
  for (const TokenKind kind : {TokenKind::characters, TokenKind::words}) {
    const FitResult fit = train({.file = write("a", lines(200)), .tokens = kind});
    const TextReport report = make_text_report(weights_);
    EXPECT_TRUE(report.as_in_training);
    EXPECT_NEAR(report.metric.value, fit.test.metric, 1e-5 * fit.test.metric);
    EXPECT_LT(report.metric.low, report.metric.value);
    EXPECT_GT(report.metric.high, report.metric.value);
    std::int64_t tokens = 0;
    for (const CategoryRow& row : report.categories.rows) tokens += row.metric.answers;
    EXPECT_EQ(tokens, report.tokens) << "each token has a category";
    EXPECT_FALSE(report.keep_learning);
  }
}

TEST_F(TextReports, UseTheTextOfTheTestOrAnother) {
  const std::string test = write("b", lines(40));
  const FitResult fit = train({.file = write("a", lines(100)), .test_file = test});
  const TextReport report = make_text_report(weights_);
  EXPECT_EQ(report.file, test);
  EXPECT_TRUE(report.as_in_training);
  EXPECT_NEAR(report.metric.value, fit.test.metric, 1e-5 * fit.test.metric);
  const TextReport other = make_text_report(weights_, {.test_file = write("c", lines(41))});
  EXPECT_FALSE(other.as_in_training);
  EXPECT_EQ(other.tokens, static_cast<std::int64_t>(lines(41).size()) - 1);
  write("b", lines(41));
  const std::string message = message_of<FileError>([&] { make_text_report(weights_); });
  EXPECT_NE(message.find("has changed since the training; give --test-text FILE"), std::string::npos) << message;
  EXPECT_THROW(make_text_report(weights_, {.test_file = write("d", "row\nZ")}), FileError);
  EXPECT_THROW(make_text_report(weights_, {.test_file = write("d", "r")}), ValueError);
}

/// A character that the vocabulary lacks is no reason for another message.
TEST_F(TextReports, ATextThatHasChangedSinceIsSaidToHave) {
  train({.file = write("a", lines(100))});
  for (const std::string& now : {lines(101), lines(50) + "Z" + lines(50)}) {
    write("a", now);
    const std::string message = message_of<FileError>([&] { make_text_report(weights_); });
    EXPECT_NE(message.find("has changed since the training; give --test-text FILE"), std::string::npos) << message;
  }
}

TEST_F(TextReports, FindTheWorstPassageAndItsLine) {
  train({.file = write("a", lines(200))});
  const std::string strange = "tttt0000gggg1111,,,,yyyy0000gggg";
  const TextReport report =
      make_text_report(weights_, {.test_file = write("b", lines(40) + strange + lines(40)), .passages = 2});
  ASSERT_EQ(report.passages.size(), 2U);
  EXPECT_GE(report.passages[0].value, report.passages[1].value);
  EXPECT_NE(report.passages[0].text.find("gggg"), std::string::npos) << report.passages[0].text;
  EXPECT_NEAR(static_cast<double>(report.passages[0].line), 40, 4.5);
  EXPECT_GT(report.passages[0].value, report.metric.value);
  const TextReport held_out = make_text_report(weights_, {.passages = 1000});
  for (const TextPassage& passage : held_out.passages) EXPECT_GT(passage.line, 189) << "counted in the whole file";
}

TEST_F(TextReports, TellKindsOfCharactersApart) {
  train({.file = write("a", lines(200))});
  const TextReport report = make_text_report(weights_, {.test_file = write("b", "ro 10,\nb")});
  std::vector<std::pair<std::string, std::int64_t>> rows;
  for (const CategoryRow& row : report.categories.rows) rows.emplace_back(row.value, row.metric.answers);
  EXPECT_EQ(rows, (std::vector<std::pair<std::string, std::int64_t>>{{"first letter of a word", 1},
                                                                     {"letter within a word", 1},
                                                                     {"space", 1},
                                                                     {"digit", 2},
                                                                     {"other character", 1},
                                                                     {"end of a line", 1}}));
}

TEST_F(TextReports, CompareWithAModelThatKeepsLearning) {
  std::string strange;
  for (int k = 0; k < 100; ++k) strange += "yes, gently 0 1\n";
  train({.file = write("a", lines(200))});
  const TextReport report = make_text_report(
      weights_, {.test_file = write("b", strange), .keep_learning = KeepLearningOptions{.learning_rate = 5e-3}});
  EXPECT_LT(report.keeps_learning.value, report.metric.value);
  EXPECT_NEAR(report.difference.mean, report.keeps_learning.value - report.metric.value, 0.02);
  EXPECT_LT(report.difference.mean + report.difference.half_width, 0);
  EXPECT_EQ(make_text_report(weights_, {.test_file = own_ / "b"}).as_in_training, false);
  const auto json = Json::parse(to_json(report));
  EXPECT_EQ(json["keep_learning"]["value"], report.keeps_learning.value);
  EXPECT_EQ(json["value"], report.metric.value);
  EXPECT_NE(to_text(report).find("keep learning"), std::string::npos);
}

}  // namespace
}  // namespace retrace
