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
