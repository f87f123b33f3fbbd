// The command retrace compare.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <map>

namespace retrace {
namespace {

Outcome compared(const std::string& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"compare", "parity",  "--models", "lstm,gru", "--seeds", "1",     "--steps",
                                 "2",       "--batch", "2",        "--json",   "--quiet", "--out", folder};
  words.insert(words.end(), {"--test-samples", "100"});
  words.insert(words.end(), more.begin(), more.end());
  return run_command(words);
}

/// The paths and bytes of all files in a folder.
std::map<std::string, std::string> contents_of(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    contents[entry.path()] = file_bytes(entry.path());
  }
  return contents;
}

TEST(CompareCommand, PrintsOneJsonObjectAndLeavesAPage) {
  const TemporaryFolder folder;
  const Outcome outcome = compared(folder / "page");
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(Json::parse(outcome.results).at("task"), "parity");
  EXPECT_EQ(outcome.messages, "");
  EXPECT_TRUE(std::filesystem::exists(folder / "page/compare.html"));
  EXPECT_TRUE(std::filesystem::exists(folder / "page/result.json"));
}

TEST(CompareCommand, TrainsWithTheLessonsOrWithoutThemAndSaysWhich) {
  const auto on_nth_farthest = [](std::vector<std::string> more) {
    std::vector<std::string> words{
        "compare", "nth-farthest",   "--vectors", "3",       "--dims", "2",       "--models", "lstm,gru", "--seeds",
        "1",       "--test-samples", "20",        "--steps", "2",      "--batch", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  const Outcome with = on_nth_farthest({}), without = on_nth_farthest({"--no-curriculum"});
  ASSERT_EQ(with.status + without.status, 0) << with.messages << without.messages;
  const std::string words_with = on_one_line(with.results), words_without = on_one_line(without.results);
  EXPECT_NE(words_with.find("Curriculum: easier lessons first, 3 in all; each is left once it is passed."),
            std::string::npos)
      << with.results;
  EXPECT_NE(words_with.find("A run of gru ended in lesson 1 of 3; it was tested with its last parameters."),
            std::string::npos);
  EXPECT_EQ(words_without.find("ended in lesson"), std::string::npos);
  EXPECT_NE(words_without.find("No curriculum: the full task from the first step on."), std::string::npos);
  const auto loss = [](const Outcome& outcome) {
    const std::string line = "gru, seed 0  step 2 of 2  loss ";
    const std::size_t found = outcome.messages.find(line);
    EXPECT_NE(found, std::string::npos) << outcome.messages;
    return outcome.messages.substr(found, line.size() + 6);
  };
  EXPECT_NE(loss(with), loss(without));
}

TEST(CompareCommand, LeavesATrainingInTheSameFolderAlone) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  const Outcome trained = run_command(
      {"train", "parity", "--steps", "2", "--batch", "2", "--test-samples", "100", "--quiet", "--out", run});
  ASSERT_EQ(trained.status, 0) << trained.messages;
  const auto metrics = std::filesystem::file_size(folder / "run/metrics.jsonl");
  ASSERT_GT(metrics, 0U);
  const auto before = contents_of(run);
  const Outcome refused = compared(run);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(
      refused.messages,
      text("retrace: ", run,
           " holds weights.safetensors of an earlier run; choose another folder, or give --force to start over\n"));
  EXPECT_EQ(contents_of(run), before);
  ASSERT_EQ(compared(run, {"--force"}).status, 0);
  EXPECT_EQ(compared(run).status, 2) << "a comparison is kept, too";
  const auto compared_before = contents_of(run);
  EXPECT_EQ(compared(run, {"--force", "--schedule", "cosin"}).status, 2);
  EXPECT_EQ(contents_of(run), compared_before) << "and not lost to a wrong flag";
  EXPECT_EQ(compared(run, {"--force"}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/checkpoint.safetensors"));
  EXPECT_EQ(std::filesystem::file_size(folder / "run/metrics.jsonl"), metrics);
}

/// The models of a result without their times.
Json models_in(const Outcome& outcome) {
  Json models = Json::parse(outcome.results).at("models");
  for (std::size_t k = 0; k < models.size(); ++k)
    for (const char* time : {"seconds", "seconds_to_threshold"}) models[k].erase(time);
  return models;
}

TEST(CompareCommand, GoesOnWithTheRunsThatItHas) {
  const TemporaryFolder folder;
  const Outcome whole = compared(folder / "runs");
  ASSERT_EQ(whole.status, 0) << whole.messages;
  std::filesystem::remove(folder / "runs/result.json");
  std::filesystem::remove_all(folder / "runs/runs/gru-seed-0");
  EXPECT_EQ(compared(folder / "runs").status, 2) << "neither --resume nor --force";
  const Outcome resumed = compared(folder / "runs", {"--resume"});
  ASSERT_EQ(resumed.status, 0) << resumed.messages;
  EXPECT_EQ(models_in(resumed), models_in(whole));
  EXPECT_TRUE(std::filesystem::exists(folder / "runs/runs/gru-seed-0/weights.safetensors"));
}

TEST(CompareCommand, ResumesNoRunWithOtherSettings) {
  const TemporaryFolder folder;
  ASSERT_EQ(compared(folder / "runs").status, 0);
  const Outcome other = compared(folder / "runs", {"--resume", "--learning-rate", "0.5"});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.messages.find("is of another training (stored: learning-rate 0.01"), std::string::npos)
      << other.messages;
}

TEST(TuneCommand, GoesOnWithTheRunsThatItHas) {
  const TemporaryFolder folder;
  const auto tuned = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"tune",  "parity",       "--model", "rnn",      "--steps", "4",      "--batch",
                                   "2",     "--rounds",     "2",       "--scales", "1",       "--json", "--quiet",
                                   "--out", folder / "tune"};
    words.insert(words.end(), {"--test-samples", "20", "--schedules", "cosine", "--learning-rates", "0.1,0.01"});
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  const Outcome whole = tuned({});
  ASSERT_EQ(whole.status, 0) << whole.messages;
  std::filesystem::remove_all(folder / "tune/runs/rate-0.01-cosine-scale-1-steps-2");
  const Outcome resumed = tuned({"--resume"});
  ASSERT_EQ(resumed.status, 0) << resumed.messages;
  EXPECT_EQ(Json::parse(resumed.results).at("best"), Json::parse(whole.results).at("best"));
  EXPECT_TRUE(std::filesystem::exists(folder / "tune/tuning.txt"));
  EXPECT_EQ(tuned({}).status, 2);
  EXPECT_EQ(tuned({"--force"}).status, 0);
}

}  // namespace
}  // namespace retrace
