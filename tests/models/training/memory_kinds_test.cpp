// Every memory beside a relational-rnn learns, and `--memory` chooses it.
#include <gtest/gtest.h>
#include <retrace/models/training/fit.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>

#include <numeric>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// The mean loss of the last of 150 steps is below that of the best constant, and far below that of the first.
void expect_to_learn(std::string_view memory) {
  const auto task = make_task("object-tracking");
  Random weights = Random(1).stream("weights");
  const auto model = make_model("relational-rnn",
                                {.input = task->input_size(),
                                 .hidden = 24,
                                 .output = task->output_size(),
                                 .slot_size = 16,
                                 .memory = std::string(memory)},
                                weights);
  const std::vector<double> losses =
      fit(*model, *task,
          {.steps = 150, .batch = 32, .learning_rate = 1e-2, .validation_samples = 64, .test_samples = 64})
          .losses;
  const auto mean_of = [](auto begin, auto end) { return std::accumulate(begin, end, 0.0) / 20; };
  const double first = mean_of(losses.begin(), losses.begin() + 20), last = mean_of(losses.end() - 20, losses.end());
  EXPECT_LT(last, 0.7 * first) << memory << ": " << first << " to " << last;
  EXPECT_LT(last, task->baselines().trivial) << memory;
}

TEST(MemoryKinds, TheCellsMemoryLearnsToTrackObjects) { expect_to_learn("cell"); }
TEST(MemoryKinds, TheGatedMemoryLearnsToTrackObjects) { expect_to_learn("gated"); }
TEST(MemoryKinds, TheNotebooksMemoryLearnsToTrackObjects) { expect_to_learn("notebook"); }

Outcome train(const char* memory) {
  return run_command({"train", "object-tracking", "--model", "relational-rnn", "--memory", memory, "--steps", "2",
                      "--batch", "4", "--test-samples", "100", "--hidden", "8", "--json", "--quiet"});
}

TEST(MemoryKinds, TheFlagChoosesTheMemory) {
  std::vector<std::int64_t> sizes;
  for (const char* memory : {"cell", "gated", "notebook"}) {
    const Outcome outcome = train(memory);
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    sizes.push_back(Json::parse(outcome.results)["parameters"].get<std::int64_t>());
  }
  EXPECT_NE(sizes[0], sizes[1]);
  EXPECT_NE(sizes[1], sizes[2]);
  EXPECT_NE(sizes[0], sizes[2]);
}

TEST(MemoryKinds, AnUnknownMemoryGetsTheNearestName) {
  const Outcome outcome = train("gatde");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.messages,
            "retrace train: there is no memory named 'gatde'; did you mean gated (known: cell, gated, notebook)\n");
}

}  // namespace
}  // namespace retrace
