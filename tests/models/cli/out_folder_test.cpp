// --out never loses what an earlier command left there, unless it is told to.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace retrace {
namespace {

class OutFolder : public testing::Test {
 protected:
  Outcome train(const std::vector<std::string>& more = {}, const std::string& seed = "1") const {
    std::vector<std::string> words{"train",          "parity", "--length", "2",     "--steps", "3",      "--batch", "2",
                                   "--test-samples", "10",     "--quiet",  "--out", run_,      "--seed", seed};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  /// Every file of the run's folder and its bytes.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run_)) {
      if (entry.is_directory()) continue;
      contents[entry.path().filename()] = file_bytes(entry.path());
    }
    return contents;
  }
  void expect_refused(const Outcome& outcome, const std::string& remedy) const {
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.results, "");
    EXPECT_EQ(outcome.messages, text("retrace: ", run_, " holds ", remedy, "\n"));
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
};

constexpr const char* go_on = " of an earlier run; give --resume to go on with it, --force to start over";

TEST_F(OutFolder, ATrainingIsNotOverwritten) {
  ASSERT_EQ(train().status, 0);
  const auto before = contents();
  expect_refused(train({}, "2"), text("weights.safetensors", go_on));
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(train({"--resume"}).status, 0);
  EXPECT_EQ(contents().at("weights.safetensors"), before.at("weights.safetensors"));
}

TEST_F(OutFolder, ForceStartsOver) {
  ASSERT_EQ(train().status, 0);
  const auto before = contents();
  ASSERT_EQ(train({"--force"}, "2").status, 0);
  EXPECT_NE(contents().at("weights.safetensors"), before.at("weights.safetensors"));
  ASSERT_EQ(train({"--force"}).status, 0);
  EXPECT_EQ(contents().at("weights.safetensors"), before.at("weights.safetensors"));
  EXPECT_EQ(train({"--force", "--resume"}).status, 2);
  EXPECT_EQ(run_command({"train", "parity", "--force"}).status, 2) << "nothing to start over without --out";
}

/// Earlier results are removed only when the command can begin: a wrong flag loses nothing.
TEST_F(OutFolder, ForceWithAWrongNameLosesNothing) {
  ASSERT_EQ(train().status, 0);
  const auto before = contents();
  EXPECT_EQ(train({"--force", "--model", "lsmt"}).status, 2);
  EXPECT_EQ(train({"--force", "--schedule", "cosin"}).status, 2);
  EXPECT_EQ(contents(), before);
}

TEST_F(OutFolder, AnUnfinishedTrainingIsNotOverwrittenEither) {
  ASSERT_EQ(train().status, 0);
  for (const char* file : {"weights.safetensors", "result.json", "curves.svg"})
    std::filesystem::remove(folder_ / ("run/" + std::string(file)));
  expect_refused(train(), text("checkpoint.safetensors", go_on));
  std::filesystem::remove(folder_ / "run/checkpoint.safetensors");
  expect_refused(train(), text("metrics.jsonl", go_on));
  EXPECT_EQ(train({"--resume"}).status, 0) << "killed before its first checkpoint, it begins again";
}

TEST_F(OutFolder, ResumeDoesNotTakeWeightsWithoutACheckpointForNothing) {
  ASSERT_EQ(train().status, 0);
  std::filesystem::remove(folder_ / "run/checkpoint.safetensors");
  const auto before = contents();
  expect_refused(
      train({"--resume"}),
      "weights.safetensors of an earlier run; it has no checkpoint to resume from; give --force to start over");
  EXPECT_EQ(contents(), before);
}

TEST_F(OutFolder, ResumeDoesNotTakeTheMetricsOfALostCheckpointForNothing) {
  ASSERT_EQ(train({"--validate-every", "1"}).status, 0);
  for (const char* file : {"checkpoint.safetensors", "weights.safetensors", "result.json", "curves.svg"})
    std::filesystem::remove(folder_ / ("run/" + std::string(file)));
  const auto before = contents();
  expect_refused(train({"--validate-every", "1", "--resume"}),
                 "metrics.jsonl of an earlier run; it has no checkpoint to resume from; give --force to start over");
  EXPECT_EQ(contents(), before);
}

TEST_F(OutFolder, WhatHoldsNothingIsNoTraining) {
  std::filesystem::create_directory(run_);
  std::ofstream(folder_ / "run/metrics.jsonl").close();
  std::ofstream(folder_ / "run/notes.txt") << "mine";
  EXPECT_EQ(train().status, 0);
  EXPECT_EQ(contents().at("notes.txt"), "mine");
}

TEST_F(OutFolder, AnAblationIsKeptAsAComparisonIs) {
  const std::vector<std::string> words{
      "ablate", "parity",  "--length", "2",       "--factors", "gate", "--seeds",        "1", "--steps",
      "1",      "--batch", "2",        "--quiet", "--out",     run_,   "--test-samples", "10"};
  ASSERT_EQ(run_command(words).status, 0);
  const auto before = contents();
  expect_refused(run_command(words),
                 "ablate.html of an earlier run; give --resume to go on with it, --force to start over");
  EXPECT_EQ(contents(), before);
  std::vector<std::string> by_force = words;
  by_force.emplace_back("--force");
  EXPECT_EQ(run_command(by_force).status, 0);
}

TEST_F(OutFolder, ResultsOfAnotherCommandAreKept) {
  const std::vector<std::string> compare{
      "compare", "parity",  "--length", "2",       "--models",       "gru", "--seeds", "1", "--steps",
      "1",       "--batch", "2",        "--quiet", "--test-samples", "10",  "--out",   run_};
  const auto resumed = [](std::vector<std::string> words) {
    words.emplace_back("--resume");
    return run_command(words);
  };
  constexpr const char* another = " of an earlier run; choose another folder, or give --force to start over";
  ASSERT_EQ(train().status, 0);
  auto before = contents();
  expect_refused(run_command(compare), text("weights.safetensors", another));
  expect_refused(resumed(compare), text("weights.safetensors", another));
  EXPECT_EQ(contents(), before);
  std::filesystem::remove_all(run_);
  ASSERT_EQ(run_command(compare).status, 0);
  before = contents();
  expect_refused(train(), "runs of another command; choose another folder");
  expect_refused(train({"--resume"}), "runs of another command; choose another folder");
  expect_refused(run_command({"ablate", "parity", "--length", "2", "--factors", "gate", "--out", run_, "--resume"}),
                 text("compare.html", another));
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(resumed(compare).status, 0);
}

TEST_F(OutFolder, AnEmptyNameIsNoFolder) {
  for (const char* command : {"train", "compare", "ablate", "tune"})
    EXPECT_EQ(run_command({command, "parity", "--steps", "1", "--out", ""}).status, 2) << command;
}

/// It can be made again from the weights at any time.
TEST_F(OutFolder, AnEvaluationIsReplaced) {
  ASSERT_EQ(train().status, 0);
  for (int times = 0; times < 2; ++times) EXPECT_EQ(run_command({"eval", run_, "--out", folder_ / "eval"}).status, 0);
}

}  // namespace
}  // namespace retrace
