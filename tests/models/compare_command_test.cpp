// The command retrace compare.
#include <gtest/gtest.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace retrace {
namespace {

Outcome compared(const std::string& folder) {
  return run_command({"compare", "parity", "--models", "lstm,gru", "--seeds", "1", "--steps", "2", "--batch", "2",
                      "--test-samples", "100", "--json", "--quiet", "--out", folder});
}

TEST(CompareCommand, PrintsOneJsonObjectAndLeavesAPage) {
  const TemporaryFolder folder;
  const Outcome outcome = compared(folder / "page");
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(nlohmann::json::parse(outcome.results).at("task"), "parity");
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
  EXPECT_NE(with.results.find("Curriculum: easier lessons first, 3 in all; each is left once it is passed."),
            std::string::npos)
      << with.results;
  EXPECT_NE(with.results.find("A run of gru ended in lesson 1 of 3; it was tested with its last parameters."),
            std::string::npos);
  EXPECT_EQ(without.results.find("ended in lesson"), std::string::npos);
  EXPECT_NE(without.results.find("No curriculum: the full task from the first step on."), std::string::npos);
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
  ASSERT_EQ(compared(run).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/checkpoint.safetensors"));
  EXPECT_EQ(std::filesystem::file_size(folder / "run/metrics.jsonl"), metrics);
}

}  // namespace
}  // namespace retrace
