// retrace train TASK --find-learning-rate.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>

namespace retrace {
namespace {

const std::vector<std::string> find_the_rate{
    "train", "babi", "--model", "gru", "--hidden", "8", "--find-learning-rate"};

TEST(LearningRatesCommand, DrawsTheLossAndSuggestsARate) {
  const Outcome outcome = run_command(find_the_rate);
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(outcome.messages, "");
  EXPECT_NE(outcome.results.find("the loss under a rising learning rate"), std::string::npos) << outcome.results;
  EXPECT_NE(outcome.results.find("\nsuggested: --learning-rate 0.0"), std::string::npos) << outcome.results;
}

TEST(LearningRatesCommand, PrintsEveryPointAsJson) {
  std::vector<std::string> with_json = find_the_rate;
  with_json.push_back("--json");
  const auto found = Json::parse(run_command(with_json).results);
  EXPECT_EQ(found.at("points").size(), 100U);
  EXPECT_EQ(found.at("points")[0].at("learning_rate"), 1e-6);
  EXPECT_GT(found.at("suggested"), 1e-5);
}

TEST(LearningRatesCommand, WritesNoFolder) {
  std::vector<std::string> with_out = find_the_rate;
  with_out.insert(with_out.end(), {"--out", "never-written"});
  EXPECT_EQ(run_command(with_out).status, 2);
}

}  // namespace
}  // namespace retrace
