// The command `eval`.
#include <gtest/gtest.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/tests/models/cli/eval_cli.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

TEST_F(EvalCli, TheMetricIsThatOfTheTrainingsTest) {
  const std::vector<std::vector<std::string>> runs{
      {"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "rmc"},
      {"object-tracking", "--model", "relational-rnn"},
      {"babi", "--model", "rmc", "--heads", "4", "--gate", "none",
       "--no-residual"},  // no shape depends on the number of heads
      {"babi", "--model", "relational-rnn", "--memory", "gated", "--heads", "4"},
      {"copy", "--length", "3", "--model", "gru", "--dtype", "f64"}};
  for (const std::vector<std::string>& words : runs) {
    const auto trained = train(words), report = eval();
    EXPECT_EQ(report["value"], trained["value"]) << words.front();
    EXPECT_EQ(report["loss"], trained["test_loss"]) << words.front();
    EXPECT_EQ(report["as_in_training"], true);
    EXPECT_EQ(report["samples"], 600);
    EXPECT_LE(report["low"], report["value"]);
    EXPECT_GE(report["high"], report["value"]);
  }
}

TEST_F(EvalCli, OtherSamplesAreSaidToBeOthers) {
  const auto trained = train({"babi"}), report = eval({"--samples", "300", "--seed", "8"});
  EXPECT_EQ(report["samples"], 300);
  EXPECT_EQ(report["seed"], 8);
  EXPECT_EQ(report["as_in_training"], false);
  EXPECT_NE(report["value"], trained["value"]);
  EXPECT_EQ(eval({"--samples", "300", "--seed", "8"}), report);
  EXPECT_NE(eval({"--samples", "300", "--seed", "9"})["loss"], report["loss"]);
}

TEST_F(EvalCli, TheReportHasCategoriesFailuresAndTheMemory) {
  train({"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "rmc"});
  const auto report = eval({"--samples", "200", "--failures", "2", "--examples", "2"});
  ASSERT_EQ(report["categories"].size(), 2U);
  EXPECT_EQ(report["categories"][0]["name"], "n");
  std::int64_t answers = 0;
  for (const auto& row : report["categories"][0]["rows"]) answers += row["answers"].get<std::int64_t>();
  EXPECT_EQ(answers, 200);
  ASSERT_EQ(report["failures"].size(), 2U);
  EXPECT_NE(report["failures"][0]["expected"], report["failures"][0]["given"]);
  EXPECT_EQ(report["memory"]["slots"].size(), 3U) << "as many as the task has vectors";
  EXPECT_EQ(report["memory"]["samples"], 200);
  ASSERT_EQ(report["examples"].size(), 2U);
  EXPECT_EQ(report["examples"][0]["row_to_remember"], 2) << "the last";
  for (const auto& step : report["examples"][0]["attention"]) {
    double sum = 0;
    for (const auto& weight : step) sum += weight.get<double>();
    EXPECT_NEAR(sum, 3, 1e-5) << "three rows";
  }
}

TEST_F(EvalCli, EveryMemoryIsToldOfAndOthersAreNot) {
  for (const char* memory : {"cell", "gated", "notebook"}) {
    train({"babi", "--model", "relational-rnn", "--memory", memory});
    const auto report = eval({"--samples", "50"});
    EXPECT_EQ(report["memory_kind"], memory);
    EXPECT_EQ(report["memory"]["attends_to_input"], std::string_view(memory) == "notebook");
    EXPECT_GE(report["memory"]["effective_slots"], 1);
    EXPECT_LE(report["memory"]["effective_slots"], 4 + 1e-9);
  }
  train({"babi", "--model", "lstm"});
  EXPECT_TRUE(eval({"--samples", "50"})["memory"].is_null());
}

TEST_F(EvalCli, TheTextAndThePageAreForPeople) {
  train({"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "rmc"});
  const Outcome outcome = run_command({"eval", run_, "--samples", "100", "--examples", "2", "--out", page_});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  for (const char* part : {"rmc on nth-farthest (vectors 3, dims 2)", "95 % interval", "position of m",
                           "Wrong:", "which vector is number", "Memory: 3 slots", "is to be remembered", "3*"})
    EXPECT_NE(outcome.results.find(part), std::string::npos) << part << "\n" << outcome.results;
  const std::string page = read("page/attention.html");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  std::size_t matrices = 0;
  for (std::size_t at = page.find("<g "); at != std::string::npos; at = page.find("<g ", at + 1)) ++matrices;
  EXPECT_EQ(matrices, 2U * (3 + 1) + 2) << "a matrix a step and one over time for each example, two of all samples";
  EXPECT_EQ(Json::parse(read("page/eval.json"))["samples"], 100);
}

/// 100 recordings, of 3 steps but for every third, which has 5.
TEST_F(EvalCli, AMemoryIsReportedAtTheMostFrequentLength) {
  std::ofstream data(folder_ / "data.csv");
  data << "a,name,kind\n";
  for (int i = 0; i < 100; ++i)
    for (int t = 0; t < (i % 3 == 0 ? 5 : 3); ++t) data << i % 7 + t << ",r" << i << "," << i % 2 << "\n";
  data.close();
  train({"data", "--data", folder_ / "data.csv", "--label", "kind", "--sequence", "name", "--model", "rmc"});
  const auto report = eval();
  ASSERT_FALSE(report["memory"].is_null());
  EXPECT_EQ(report["memory"]["steps"], 3);
  EXPECT_EQ(report["memory"]["attention_over_time"].size(), 3U);
  const auto samples = report["memory"]["samples"].get<int>();
  EXPECT_GT(samples, 10);
  EXPECT_LT(samples, report["samples"].get<int>());
  const std::string seen = run_command({"eval", run_}).results;
  EXPECT_NE(seen.find(" samples of 3 steps, the most frequent length\n"), std::string::npos) << seen;
}

TEST_F(EvalCli, TheHeadsOfATransformerHaveItsName) {
  train({"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "transformer"});
  const std::string hint = "--out DIR draws the weights and their gradients";
  const std::string seen = run_command({"eval", run_, "--samples", "50"}).results;
  EXPECT_NE(seen.find("\n  transformer/layers.0/"), std::string::npos) << seen;
  EXPECT_NE(seen.find(hint), std::string::npos) << seen;
  EXPECT_EQ(run_command({"eval", run_, "--samples", "50", "--out", page_}).results.find(hint), std::string::npos);
}

TEST_F(EvalCli, EveryLayerAndHeadIsAPictureOfWeightsAndGradients) {
  train({"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "attention"});
  const Outcome outcome = run_command({"eval", run_, "--samples", "50", "--out", page_});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const std::string page = read("page/attention.html");
  EXPECT_LT(page.size(), 100'000u);
  std::size_t tables = 0;
  for (std::size_t at = page.find("<table"); at != std::string::npos; at = page.find("<table", at + 1)) ++tables;
  EXPECT_EQ(tables, 2U * 2 * 4) << "two for each of the four heads of two layers";
  EXPECT_EQ(page.find("http"), std::string::npos) << "it needs nothing from elsewhere";
  const auto report = Json::parse(read("page/eval.json"));
  ASSERT_EQ(report["attention"]["heads"].size(), 8U);
  const auto expect_head = [&](std::size_t place, const std::string& layer, std::size_t rows) {
    const auto& head = report["attention"]["heads"][place];
    EXPECT_EQ(head["layer"], "attention_model/" + layer + "/attention");
    EXPECT_EQ(head["head"], 1);
    EXPECT_EQ(head["rows"], rows);
    EXPECT_EQ(head["weights"].size(), rows * 3);
    EXPECT_EQ(head["gradients"].size(), rows * 3);
    EXPECT_NE(head["gradients"].back(), 0);
  };
  expect_head(1, "blocks.0", 3);
  expect_head(5, "blocks.1", 1);  // only its last row is read
}

TEST_F(EvalCli, AMemoryHasAPictureForEachHeadAndStepBesideThoseOfItsSlots) {
  train({"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "rmc"});
  ASSERT_EQ(run_command({"eval", run_, "--samples", "50", "--out", page_}).status, 0);
  const std::string page = read("page/attention.html");
  for (const char* part :
       {"<h3>rmc_model/core</h3>", "step 1 of 3, head 0", "step 3 of 3, head 0", "attention received"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(EvalCli, AModelWithoutAttentionHasNoPageAndLeavesNoneOfAnEarlierModel) {
  train({"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "attention"});
  ASSERT_EQ(run_command({"eval", run_, "--samples", "50", "--out", page_}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(page_ + "/attention.html"));
  train({"babi", "--model", "lstm"});
  const Outcome outcome = run_command({"eval", run_, "--samples", "50", "--out", page_});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_FALSE(std::filesystem::exists(page_ + "/attention.html"));
  const auto report = Json::parse(read("page/eval.json"));
  EXPECT_EQ(report["task"], "babi");
  EXPECT_TRUE(report["attention"].is_null());
}

TEST_F(EvalCli, TablesFitATerminal) {
  const std::vector<std::vector<std::string>> runs{
      {"nth-farthest", "--vectors", "8", "--dims", "2", "--model", "rmc"},
      {"object-tracking", "--model", "relational-rnn", "--memory", "gated"},
      {"execute", "--model", "gru"}};
  for (const std::vector<std::string>& words : runs) {
    train(words);
    std::istringstream lines(run_command({"eval", run_, "--samples", "100", "--failures", "0"}).results);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(!line.starts_with("  ") || line.size() <= 80U) << line;
  }
}

TEST_F(EvalCli, ACheckpointOfAnUnfinishedTrainingIsSaidToBeOne) {
  train({"babi"});
  const Outcome outcome = run_command({"eval", run_ + "/checkpoint.safetensors", "--samples", "10"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_NE(outcome.results.find("a checkpoint after step 4"), std::string::npos) << outcome.results;
}

TEST_F(EvalCli, WrongLinesAndFilesAreAnsweredByOneLine) {
  const auto expect_refused = [](std::vector<std::string> words, int status, const std::string& part) {
    words.insert(words.begin(), "eval");
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, status);
    EXPECT_EQ(outcome.results, "");
    EXPECT_NE(outcome.messages.find(part), std::string::npos) << outcome.messages;
    EXPECT_EQ(std::count(outcome.messages.begin(), outcome.messages.end(), '\n'), 1) << outcome.messages;
  };
  expect_refused({}, 2, "checkpoint is required");
  expect_refused({run_, "--sample", "3"}, 2, "there is no flag named '--sample'; did you mean --samples");
  expect_refused({run_, "--samples", "0"}, 2, "--samples");
  expect_refused({run_, "--failures", "-1"}, 2, "--failures");
  expect_refused({run_}, 1, run_);
  expect_refused({folder_.path()}, 1, "neither weights.safetensors nor checkpoint.safetensors");
  std::ofstream(folder_ / "noise") << "no safetensors at all";
  expect_refused({folder_ / "noise"}, 1, "noise");
  train({"babi"});
  expect_refused({run_, "--samples", "10", "--out", "/dev/null/page"}, 1, "choose another --out");
}

TEST_F(EvalCli, ATextIsEvaluatedAndPredicted) {
  std::ofstream text_file(folder_ / "rhyme.txt");
  for (int line = 0; line < 60; ++line) text_file << "row row row your boat, gently down the stream\n";
  text_file.close();
  const Outcome trained = run_command({"train", "text", "--text", folder_ / "rhyme.txt", "--steps", "2", "--batch", "4",
                                       "--length", "12", "--hidden", "16", "--quiet", "--out", run_});
  ASSERT_EQ(trained.status, 0) << trained.messages;
  EXPECT_EQ(run_command({"eval", run_}).status, 0);
  const Outcome outcome = run_command({"predict", run_, "--input", folder_ / "rhyme.txt"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(std::count(outcome.results.begin(), outcome.results.end(), '\n'), 1 + 60 * 46);
}

TEST_F(EvalCli, WeightsThatAreNoNumbersOrGiveNoneFailAndNameTheFile) {
  const auto report = [&](float weight) {
    train({"object-tracking", "--model", "lstm"});
    const std::string path = run_ + "/weights.safetensors";
    const SafetensorsFile file = read_safetensors(path);
    file.tensors.at("out.bias").mutable_values<float>()[0] = weight;
    write_safetensors(path, file.tensors, file.metadata);
    const Outcome outcome = run_command({"eval", run_});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.results, "");
    EXPECT_NE(outcome.messages.find(path), std::string::npos) << outcome.messages;
    return outcome.messages;
  };
  EXPECT_NE(report(std::numeric_limits<float>::quiet_NaN()).find("not finite numbers: out.bias"), std::string::npos);
  EXPECT_NE(report(1e38F).find("has a loss of inf"), std::string::npos) << "its square is too large";
}

}  // namespace
}  // namespace retrace
