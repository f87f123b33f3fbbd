// `eval --by-length`, and `eval` at other sizes than in training.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/models/reports/evaluation/by_length.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <string>
#include <vector>

namespace retrace {
namespace {

class OtherSizes : public testing::Test {
 protected:
  void train(std::vector<std::string> words) const {
    words.insert(words.begin(), "train");
    for (const char* word :
         {"--steps", "2", "--batch", "4", "--hidden", "8", "--test-samples", "64", "--quiet", "--force", "--out"})
      words.emplace_back(word);
    words.push_back(run_);
    const Outcome outcome = run_command(words);
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
  }
  Outcome eval(std::vector<std::string> more) const {
    more.insert(more.begin(), {"eval", run_});
    return run_command(more);
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
};

TEST_F(OtherSizes, ResultsByLengthHaveBinsAndTheirMean) {
  train({"parity-check", "--model", "gru"});
  const Outcome outcome = eval({"--by-length", "41..85/2", "--samples", "16", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const auto result = Json::parse(outcome.results);
  ASSERT_EQ(result["lengths"].size(), 23U);
  EXPECT_EQ(result["lengths"][0]["length"], 41);
  EXPECT_EQ(result["lengths"][22]["length"], 85);
  EXPECT_EQ(result["samples"], 16);
  double sum = 0;
  for (const auto& each : result["lengths"]) sum += each["value"].get<double>();
  EXPECT_NEAR(result["score"].get<double>(), sum / 23, 1e-9);
  ASSERT_EQ(result["bins"].size(), 10U);
  std::size_t next = 0;
  for (const auto& bin : result["bins"]) {
    double in_bin = 0;
    EXPECT_EQ(bin["first"], result["lengths"][next]["length"]);
    for (int k = 0; k < bin["lengths"].get<int>(); ++k) in_bin += result["lengths"][next++]["value"].get<double>();
    EXPECT_NEAR(bin["value"].get<double>(), in_bin / bin["lengths"].get<double>(), 1e-9);
    EXPECT_EQ(bin["last"], result["lengths"][next - 1]["length"]);
  }
  EXPECT_EQ(next, 23U);
  EXPECT_EQ(eval({"--by-length", "41..85/2", "--samples", "16", "--json"}).results, outcome.results);
  const std::string table = on_one_line(eval({"--by-length", "3..4", "--samples", "8"}).results);
  EXPECT_NE(table.find("length accuracy lengths 3 0."), std::string::npos) << table;
  EXPECT_NE(table.find("over 2 lengths of 8 samples; chance 0.5)"), std::string::npos) << table;
}

TEST_F(OtherSizes, LengthsAreNamedOnce) {
  train({"parity-check", "--model", "gru"});
  const Outcome outcome = eval({"--by-length", "3..4", "--length", "7"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find("--by-length names the lengths; leave --length out"), std::string::npos);
}

TEST_F(OtherSizes, LearnedPositionsDoNotReachFurther) {
  train({"reverse-string", "--length", "5", "--model", "attention"});
  EXPECT_EQ(eval({"--by-length", "1..5", "--samples", "2"}).status, 0);
  const Outcome outcome = eval({"--by-length", "1..6", "--samples", "2"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find("train it with --positions rotary, alibi, sinusoidal or none"), std::string::npos)
      << outcome.messages;
  for (const char* length : {"6", "7", "40"}) {
    const Outcome longer = eval({"--length", length, "--samples", "2"});
    EXPECT_NE(longer.messages.find("train it with --positions rotary"), std::string::npos) << longer.messages;
  }
  train({"reverse-string", "--length", "5", "--model", "attention", "--positions", "rotary"});
  EXPECT_EQ(eval({"--by-length", "1..6", "--samples", "2"}).status, 0);
}

TEST_F(OtherSizes, ATaskOfOneLengthIsRefused) {
  train({"babi", "--model", "gru"});
  const Outcome outcome = eval({"--by-length", "5..6"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find("the task 'babi' has no inputs of other lengths"), std::string::npos)
      << outcome.messages;
}

TEST(LengthRange, IsReadOrRefused) {
  const LengthRange range = length_range_named("41..500/10");
  EXPECT_EQ(range.first, 41);
  EXPECT_EQ(range.last, 500);
  EXPECT_EQ(range.step, 10);
  EXPECT_EQ(length_range_named("3..3").step, 1);
  for (const char* wrong : {"", "5", "5..", "..5", "5-6", "0..4", "5..4", "1..4/0", "1..4/", "1..4x", "1..4/2x"})
    EXPECT_EQ(message_of([&] { length_range_named(wrong); }),
              text("--by-length: '", wrong, "' is no range of lengths; write FIRST..LAST or FIRST..LAST/STEP, such as ",
                   "41..500/10"));
}

TEST_F(OtherSizes, AModelIsEvaluatedOnHarderSamples) {
  train({"recall", "--length", "3", "--model", "gru"});
  const auto own = Json::parse(eval({"--json"}).results);
  EXPECT_EQ(own["as_in_training"], true);
  const Outcome harder = eval({"--length", "9", "--json"});
  ASSERT_EQ(harder.status, 0) << harder.messages;
  const auto report = Json::parse(harder.results);
  EXPECT_EQ(report["task_options"]["length"], 9);
  EXPECT_EQ(report["as_in_training"], false);
  EXPECT_EQ(report["categories"][0]["rows"].size(), 9U) << "positions of the pair";
  const Outcome same = eval({"--length", "3", "--json"});
  EXPECT_EQ(Json::parse(same.results), own);
}

TEST_F(OtherSizes, OtherInputsAreRefused) {
  train({"recall", "--length", "3", "--model", "gru"});
  const Outcome outcome = eval({"--keys", "20"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find(
                "retrace eval: with keys 20 the task 'recall' has 30 features and 10 outputs, but the model "
                "of "),
            std::string::npos)
      << outcome.messages;
  EXPECT_NE(outcome.messages.find("was trained on 20 and 10;"), std::string::npos) << outcome.messages;
  EXPECT_NE(eval({"--moves", "20"}).messages.find("has no option 'moves'"), std::string::npos);
}

}  // namespace
}  // namespace retrace
