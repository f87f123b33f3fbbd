// Trainings whose batches are cut into shards: the same bytes on any number of ranks.
#include <gtest/gtest.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/run.h>
#include <retrace/models/training/trainer.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/training/random_text.h>
#include <retrace/tests/models/training/ranks/thread_ranks.h>
#include <retrace/tests/temporary_folder.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// A training of few steps: the task, the model and what is done to its gradients.
struct Small {
  const char* task;
  const char* model;
  TaskOptions sizes;
  FitOptions fit;
  double dropout = 0;
};

FitOptions few_steps(std::int64_t batch) {
  return {.seed = 3,
          .steps = 6,
          .batch = batch,
          .learning_rate = 1e-2,
          .validate_every = 3,
          .validation_samples = 32,
          .test_samples = 32,
          .checkpoint_seconds = 0};
}

struct Trained {
  std::string weights;
  std::vector<double> losses;
  std::int64_t lesson = 0;
  bool operator==(const Trained&) const = default;
};

/// Trains until the steps are made, or until step `stop`.
Trained train(const Small& small, Communicator* ranks, std::optional<std::int64_t> shards = 8,
              const std::string& checkpoint = {}, std::int64_t stop = 1000) {
  RunOptions options{.task = small.task, .model = {.name = small.model}, .task_options = small.sizes, .fit = small.fit};
  options.model.sizes.hidden = 8;
  if (small.dropout > 0) options.model.form.dropout = small.dropout;
  options.fit.shards = shards;
  options.fit.ranks = ranks;
  options.fit.checkpoint = checkpoint;
  options.fit.resume = !checkpoint.empty();
  options.fit.on_step = [=](const FitStep& step) { return step.step >= stop ? FitAction::stop : FitAction::go_on; };
  const Run run = prepare(options);
  Trainer trainer(*run.model, *run.task, run.options.fit);
  const FitResult result = fit(trainer);
  return {weights_hash(*run.model), result.losses, trainer.curriculum().lesson};
}

std::vector<Small> kinds() {
  std::vector<Small> all;
  all.push_back({"pair-matching", "lstm", {.length = 6, .vocabulary = 4}, few_steps(16), 0});
  all.back().fit.accumulate = 2;
  all.back().fit.average = 0.9;
  all.push_back({"recall", "attention", {.length = 3}, few_steps(13), 0});
  all.back().fit.optimizer = "sgd";
  all.back().fit.clip = 0.1;
  all.push_back({"parity", "transformer", {.length = 5}, few_steps(16), 0.2});
  all.push_back({"adding", "relational-rnn", {.length = 5}, few_steps(9), 0});
  all.push_back({"pair-matching", "rmc", {.length = 6, .vocabulary = 4}, few_steps(8), 0});
  return all;
}

TEST(ShardedTraining, HasTheSameBytesOnAnyNumberOfRanks) {
  for (const Small& small : kinds()) {
    const Trained alone = train(small, nullptr);
    for (const int size : {2, 3, 8})
      on_ranks(size, [&](ThreadRank& rank) {
        EXPECT_EQ(train(small, &rank), alone) << small.model << " on " << small.task << ", " << size << " ranks";
      });
  }
}

TEST(ShardedTraining, LearnsWhatAWholeBatchLearns) {
  for (Small small : kinds()) {
    small.dropout = 0;
    small.fit.curriculum = false;
    const Trained whole = train(small, nullptr, std::nullopt), cut = train(small, nullptr, 4);
    for (std::size_t k = 0; k < whole.losses.size(); ++k)
      EXPECT_NEAR(cut.losses[k], whole.losses[k], 1e-3 * (1 + std::abs(whole.losses[k]))) << small.model << ", " << k;
    const Trained one = train(small, nullptr, 1);
    EXPECT_NEAR(one.losses.front(), whole.losses.front(), 1e-6) << small.model;
  }
}

TEST(ShardedTraining, MovesOnToTheNextLessonsAlike) {
  Small small{"object-tracking", "lstm", {}, few_steps(16), 0};
  small.fit.steps = 40;
  const Trained alone = train(small, nullptr);
  on_ranks(3, [&](ThreadRank& rank) { EXPECT_EQ(train(small, &rank), alone); });
}

/// Stops by a signal's flag while the loss of this number is computed, counted over all shards; 0: never.
FitResult stopped_at_loss(std::int64_t number, Communicator* ranks, const std::string& checkpoint,
                          std::string& weights) {
  std::atomic<bool> stop = false;
  RunOptions options{.task = "pair-matching", .model = {.name = "lstm"}, .fit = few_steps(16)};
  options.model.sizes.hidden = 8;
  options.fit.shards = 8;
  options.fit.ranks = ranks;
  options.fit.checkpoint = checkpoint;
  options.fit.resume = true;
  options.fit.stop = &stop;
  options.fit.measures.loss = [&](const Tensor& output, const Batch& batch) {
    if (--number == 0) stop = true;
    return cross_entropy(output, batch.y);
  };
  Run run = prepare(options);
  run.train();
  weights = weights_hash(*run.model);
  return run.fit;
}

TEST(ShardedTraining, AStopOnOneRankEndsTheStepOnAllAndLeavesItOut) {
  const TemporaryFolder folder;
  std::string whole;
  stopped_at_loss(0, nullptr, folder / "whole", whole);
  for (const std::int64_t number : {1, 5, 14}) {
    const std::string checkpoint = folder / text("checkpoint-", number);
    on_ranks(3, [&](ThreadRank& rank) {
      std::string weights;
      const FitResult result = stopped_at_loss(rank.rank() == 1 ? number : 0, &rank, checkpoint, weights);
      EXPECT_EQ(result.stopped_by, StopReason::signal);
      EXPECT_LT(result.steps, 6);
    });
    std::string resumed;
    stopped_at_loss(0, nullptr, checkpoint, resumed);
    EXPECT_EQ(resumed, whole) << number;
  }
}

TEST(ShardedTraining, GoesOnOnAnotherNumberOfRanks) {
  const TemporaryFolder folder;
  std::ofstream(folder / "text.txt") << random_text(2000);
  Small of_text{"text", "lstm", {.length = 8, .text = folder / "text.txt"}, few_steps(8), 0};
  for (const Small& small : {kinds().front(), of_text}) {
    const Trained whole = train(small, nullptr);
    const std::string file = folder / text(small.task, ".safetensors");
    on_ranks(4, [&](ThreadRank& rank) { train(small, &rank, 8, file, 4); });
    EXPECT_EQ(step_of_checkpoint(file), 4);
    on_ranks(3,
             [&](ThreadRank& rank) { EXPECT_EQ(train(small, &rank, 8, file).weights, whole.weights) << small.task; });
  }
}

TEST(ShardedTraining, EveryRankNamesTheRecordThatIsNotFinite) {
  Small small = kinds().front();
  small.fit.measures.loss = [](const Tensor& output, const Batch&) { return sum(exp(1e4 * output)); };
  const std::string alone = message_of<DivergenceError>([&] { train(small, nullptr); });
  EXPECT_NE(alone, nothing_thrown);
  on_ranks(3, [&](ThreadRank& rank) { EXPECT_EQ(message_of<DivergenceError>([&] { train(small, &rank); }), alone); });
}

TEST(ShardedTraining, RefusesRanksThatBeganOtherwise) {
  on_ranks(2, [](ThreadRank& rank) {
    Small small = kinds().front();
    small.fit.seed = static_cast<std::uint64_t>(rank.rank());
    expect_words<ValueError>([&] { train(small, &rank); },
                             {"the ranks differ: rank 0 has seed 0, and rank 1 has seed 1"});
  });
}

TEST(ShardedTraining, RefusesABatchOfFewerSamplesThanShards) {
  Small small = kinds().front();
  small.fit.batch = 4;
  expect_error<ValueError>([&] { train(small, nullptr); },
                           "fit: a batch of 4 cannot be cut into 8 shards; choose a larger batch, or fewer shards");
}

}  // namespace
}  // namespace retrace
