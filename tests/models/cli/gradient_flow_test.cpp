// retrace study --gradient-flow: how the gradient flows back through time.
#include <gtest/gtest.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace retrace {
namespace {

Json flows_of(std::vector<std::string> words) {
  words.insert(words.begin(), "study");
  words.insert(words.end(), {"--gradient-flow", "--json"});
  const Outcome outcome = run_command(words);
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  return Json::parse(outcome.results)["trace"]["flows"];
}

TEST(GradientFlowCommand, PrintsNormsMatricesAndWhereItVanishes) {
  const Outcome outcome = run_command({"study", "lstm", "--tokens", "3", "--gradient-flow"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_NE(outcome.results.find("       t          h          c          x\n"), std::string::npos);
  EXPECT_NE(outcome.results.find(" is largest, "), std::string::npos);
  EXPECT_NE(outcome.results.find("|d c_t / d x_s|"), std::string::npos);
  EXPECT_EQ(outcome.results.find("backward of"), std::string::npos) << "the steps are not printed";
}

TEST(GradientFlowCommand, IsPartOfTheTraceIfAskedFor) {
  const Json flows = flows_of({"gru", "--tokens", "3"});
  EXPECT_EQ(flows[0]["title"], "h");
  EXPECT_EQ(flows[0]["norms"][0]["values"].size(), 3u);
  EXPECT_EQ(flows[0]["matrix"][0][1], 0);
  EXPECT_EQ(Json::parse(run_command({"study", "gru", "--json"}).results)["trace"]["flows"], Json::List());
}

TEST(GradientFlowCommand, IsThatOfAStoredTrace) {
  const TemporaryFolder folder;
  const std::string with = folder / "with.trace.safetensors", without = folder / "without.trace.safetensors";
  ASSERT_EQ(run_command({"study", "rnn", "--gradient-flow", "--trace", with}).status, 0);
  EXPECT_EQ(run_command({"study", with, "--gradient-flow"}).results,
            run_command({"study", "rnn", "--gradient-flow"}).results);
  ASSERT_EQ(run_command({"study", "rnn", "--trace", without}).status, 0);
  const Outcome missing = run_command({"study", without, "--gradient-flow"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.messages.find("make one with --gradient-flow and --trace"), std::string::npos);
  const Outcome late = run_command({"study", without, "--check-elements", "3"});
  EXPECT_EQ(late.status, 2);
  EXPECT_NE(late.messages.find("cannot be run again"), std::string::npos) << late.messages;
}

/// For a trained model in f32, whose target is a real number.
void expect_agreement(const Json& checks) {
  EXPECT_GT(checks.size(), 0u);
  for (const Json& check : checks) {
    const double dual = check["dual"].get<double>();
    EXPECT_NEAR(check["tape"].get<double>(), dual, 1e-4 * std::max(1.0, std::abs(dual)));
    EXPECT_NEAR(check["difference"].get<double>(), dual, 1e-7 * std::max(1.0, std::abs(dual)));
  }
}

TEST(GradientFlowCommand, OfEveryTrainedModelIsThatOfItsLoss) {
  const TemporaryFolder folder;
  for (const std::string model : {"lstm", "gru", "rnn", "relational-rnn", "rmc", "attention"}) {
    const std::string run = folder / model;
    std::vector<std::string> words{"train",    "adding", "--length", "6", "--model",        model,
                                   "--steps",  "1",      "--batch",  "2", "--test-samples", "4",
                                   "--hidden", "8",      "--out",    run, "--quiet"};
    if (model[0] == 'r' && model != "rnn")
      words.insert(words.end(), {"--slots", "2", "--slot-size", "4", "--heads", "2"});
    const Outcome trained = run_command(words);
    ASSERT_EQ(trained.status, 0) << trained.messages;
    const Outcome outcome = run_command({"study", run, "--gradient-flow", "--check-elements", "2", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    const Json object = Json::parse(outcome.results);
    expect_agreement(object["trace"]["checks"]);
    const Json norms = object["trace"]["flows"].back()["norms"][0]["values"];
    std::vector<double> squares(norms.size());
    for (const Json& node : object["trace"]["nodes"]) {
      if (node["name"] != "x") continue;
      const Json gradient = object["tensors"][node["gradient"]["tensor"].get<std::string>()]["values"];
      for (std::size_t k = 0; k < gradient.size(); ++k)
        squares[k * squares.size() / gradient.size()] += gradient[k].get<double>() * gradient[k].get<double>();
    }
    for (std::size_t t = 0; t < squares.size(); ++t)
      EXPECT_NEAR(norms[t].get<double>(), std::sqrt(squares[t]), 1e-5) << model << " " << t;
  }
}

TEST(GradientFlowCommand, NeedsStepsInTime) {
  const Outcome outcome = run_command({"study", "layer-norm", "--gradient-flow"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find("choose rnn"), std::string::npos) << outcome.messages;
}

}  // namespace
}  // namespace retrace
