#include <gtest/gtest.h>
#include <retrace/models/reports/evaluation/evaluation_report.h>
#include <retrace/models/training/run.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
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
  FitResult train(TaskOptions text, const std::string& model = "gru") {
    text.length = 8;
    auto run = prepare({.task = "text",
                        .model = {.name = model, .sizes = {.hidden = 16}},
                        .task_options = text,
                        .fit = {.steps = 40, .batch = 4, .learning_rate = 2e-2}});
    run.train();
    run.save_weights(weights_);
    return run.fit;
  }
  Report report(const ReportOptions& options = {}) const { return make_report(load_run(weights_), options); }
  Report report_on(const std::string& file, const ReportOptions& options = {}) const {
    StoredRun run = load_run(weights_, TaskSamples::none);
    test_on_file(run, file);
    return make_report(run, options);
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
    const FitResult fit = train({.text = write("a", lines(200)), .tokens = kind});
    const Report report = this->report();
    EXPECT_TRUE(report.as_in_training);
    EXPECT_NEAR(report.metric.value, fit.test.metric, 1e-5 * fit.test.metric);
    EXPECT_LT(report.metric.low, report.metric.value);
    EXPECT_GT(report.metric.high, report.metric.value);
    std::int64_t tokens = 0;
    for (const CategoryRow& row : report.categories.front().rows) tokens += row.metric.answers;
    EXPECT_EQ(tokens, report.text->tokens) << "each token has a category";
    EXPECT_FALSE(report.text->learning);
  }
}

TEST_F(TextReports, UseTheTextOfTheTestOrAnother) {
  const std::string test = write("b", lines(40));
  const FitResult fit = train({.text = write("a", lines(100)), .test_text = test});
  const Report report = this->report();
  EXPECT_EQ(report.text->file, test);
  EXPECT_TRUE(report.as_in_training);
  EXPECT_NEAR(report.metric.value, fit.test.metric, 1e-5 * fit.test.metric);
  const Report other = report_on(write("c", lines(41)));
  EXPECT_FALSE(other.as_in_training);
  EXPECT_EQ(other.text->tokens, static_cast<std::int64_t>(lines(41).size()) - 1);
  write("b", lines(41));
  const std::string message = message_of<FileError>([&] { this->report(); });
  EXPECT_NE(message.find("has changed since the training; restore it, or train on it again"), std::string::npos)
      << message;
  EXPECT_THROW(report_on(write("d", "row\nZ")), FileError);
  EXPECT_THROW(report_on(write("d", "r")), ValueError);
}

/// A character that the vocabulary lacks is no reason for another message.
TEST_F(TextReports, ATextThatHasChangedSinceIsSaidToHave) {
  train({.text = write("a", lines(100))});
  for (const std::string& now : {lines(101), lines(50) + "Z" + lines(50)}) {
    write("a", now);
    const std::string message = message_of<FileError>([&] { this->report(); });
    EXPECT_NE(message.find("has changed since the training; restore it, or train on it again"), std::string::npos)
        << message;
  }
}

TEST_F(TextReports, FindTheWorstPassageAndItsLine) {
  train({.text = write("a", lines(200))});
  const std::string strange = "tttt0000gggg1111,,,,yyyy0000gggg";
  const Report report = report_on(write("b", lines(40) + strange + lines(40)), {.failures = 2});
  ASSERT_EQ(report.text->passages.size(), 2U);
  EXPECT_GE(report.text->passages[0].value, report.text->passages[1].value);
  EXPECT_NE(report.text->passages[0].text.find("gggg"), std::string::npos) << report.text->passages[0].text;
  EXPECT_NEAR(static_cast<double>(report.text->passages[0].line), 40, 4.5);
  EXPECT_GT(report.text->passages[0].value, report.metric.value);
  const Report held_out = this->report({.failures = 1000});
  for (const TextPassage& passage : held_out.text->passages)
    EXPECT_GT(passage.line, 189) << "counted in the whole file";
}

TEST_F(TextReports, TellKindsOfCharactersApart) {
  train({.text = write("a", lines(200))});
  const Report report = report_on(write("b", "ro 10,\nb"));
  std::vector<std::pair<std::string, std::int64_t>> rows;
  for (const CategoryRow& row : report.categories.front().rows) rows.emplace_back(row.value, row.metric.answers);
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
  train({.text = write("a", lines(200))});
  const Report report = report_on(write("b", strange), {.keep_learning = KeepLearningOptions{.learning_rate = 5e-3}});
  const KeptLearning& learning = *report.text->learning;
  EXPECT_LT(learning.metric.value, report.metric.value);
  EXPECT_NEAR(learning.difference.mean, learning.metric.value - report.metric.value, 0.02);
  EXPECT_LT(learning.difference.mean + learning.difference.half_width, 0);
  EXPECT_EQ(report_on(own_ / "b").as_in_training, false);
  const auto json = Json::parse(to_json(report));
  EXPECT_EQ(json["keep_learning"]["value"], learning.metric.value);
  EXPECT_EQ(json["value"], report.evaluation.metric);
  EXPECT_NEAR(report.evaluation.metric, report.metric.value, 1e-5 * report.metric.value);
  EXPECT_NE(to_text(report).find("keep learning"), std::string::npos);
}

/// Its words name the rows of attention and of a memory.
TEST_F(TextReports, ShowAttentionOverTheTokens) {
  for (const char* model : {"attention", "rmc"}) {
    train({.text = write("a", lines(200)), .tokens = TokenKind::words}, model);
    const Report report = this->report();
    ASSERT_TRUE(report.attention) << model;
    EXPECT_EQ(report.attention->rows.size(), 8U);
    EXPECT_NE(std::ranges::find(report.attention->rows, "times"), report.attention->rows.end());
    EXPECT_EQ(report.memory.has_value(), std::string(model) == "rmc");
    EXPECT_TRUE(attention_page(report).has_value());
  }
}

TEST_F(TextReports, RefuseWhatIsNotForTexts) {
  train({.text = write("a", lines(100))});
  expect_error<ValueError>([&] { this->report({.samples = 3}); },
                           "eval: a text is tested as a whole; leave --samples and --seed out");
  StoredRun run = load_run(weights_);
  run.task = make_task("babi"), run.path = "a";
  expect_error<ValueError>([&] { make_report(run, {.keep_learning = KeepLearningOptions()}); },
                           "eval: --keep-learning is for models of text, and a is none; leave it out");
}

}  // namespace
}  // namespace retrace
