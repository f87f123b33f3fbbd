// A program killed at any moment leaves a checkpoint from which the next run continues.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <retrace/core/tensor/random.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/metrics.h>
#include <retrace/tests/temporary_folder.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace retrace {
namespace {

/// Starts the program on tiny steps with a checkpoint after each, so that most kills meet it while it writes.
pid_t start_training(const std::string& folder) {
  std::vector<std::string> words{RETRACE_PROGRAM,
                                 "train",
                                 "pair-matching",
                                 "--steps",
                                 "1000000",
                                 "--batch",
                                 "2",
                                 "--hidden",
                                 "8",
                                 "--validate-every",
                                 "1",
                                 "--checkpoint-seconds",
                                 "0",
                                 "--threads",
                                 "1",
                                 "--out",
                                 folder,
                                 "--quiet",
                                 "--resume"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, RETRACE_PROGRAM, nullptr, nullptr, arguments.data(), environ) != 0) return -1;
  return child;
}

/// A busy machine, or a build with sanitizers, may need seconds until the program has left its first checkpoint.
void wait_for(const std::string& file) {
  for (int tries = 0; tries < 6000 && !std::filesystem::exists(file); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

int kills() {
  const char* asked = std::getenv("RETRACE_KILLS");
  return asked == nullptr ? 10 : std::atoi(asked);
}

/// The lines of the metrics up to this step.
std::int64_t lines_up_to(std::int64_t step, const std::string& file) {
  std::ifstream metrics(file);
  std::int64_t lines = 0;
  for (std::string line; std::getline(metrics, line) && !metrics.eof();)
    if (metrics_from_json(file, line).step <= step) ++lines;
  return lines;
}

TEST(Kill, AtAnyMomentLeavesACheckpointToGoOnFromAndItsMetrics) {
  const TemporaryFolder own;
  const std::string folder = own / "run", checkpoint = own / "run/checkpoint.safetensors";
  Random random(7);
  std::int64_t step = 0;
  for (int kill_number = 0; kill_number < kills(); ++kill_number) {
    const pid_t child = start_training(folder);
    ASSERT_GT(child, 0);
    if (kill_number == kills() / 2) wait_for(checkpoint);
    std::this_thread::sleep_for(std::chrono::microseconds(50'000 + random.integer(200'000)));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the program ended on its own after kill " << kill_number;
    if (!std::filesystem::exists(checkpoint)) continue;  // killed before the first one
    const std::int64_t reached = step_of_checkpoint(checkpoint);
    EXPECT_GE(reached, step) << "steps were lost at kill " << kill_number;
    step = reached;
    EXPECT_EQ(lines_up_to(step, own / "run/metrics.jsonl"), step) << "metrics were lost at kill " << kill_number;
  }
  EXPECT_GT(step, 0) << "every kill came before the first checkpoint";
}

}  // namespace
}  // namespace retrace
