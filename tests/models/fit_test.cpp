#include <gtest/gtest.h>
#include <retrace/core/parallel.h>
#include <retrace/core/storage.h>
#include <retrace/models/tasks/pair_matching.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/recipes.h>
#include <retrace/models/training/trainer.h>
#include <retrace/tests/heap_count.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

namespace retrace {
namespace {

std::unique_ptr<SequenceModel> small_model(std::string_view name, const Task& task, std::int64_t hidden = 16) {
  Random random = Random(1).stream("weights");
  return make_model(name, {.input = task.input_size(), .hidden = hidden, .output = task.output_size()}, random);
}

TEST(Fit, AShortTrainingLearns) {
  const PairMatching task({.length = 4, .vocabulary = 4});  // one pair: the answer is the other element
  const auto model = small_model("lstm", task);
  const FitResult result = fit(*model, task, {.steps = 300, .batch = 32, .learning_rate = 1e-2});
  EXPECT_GT(result.test.metric, 0.99);
  EXPECT_LT(result.losses.back(), 0.1 * result.losses.front());
}

TEST(Fit, ARelationalMemoryLearnsToo) {
  const PairMatching task({.length = 4, .vocabulary = 4});
  const auto model = small_model("relational-rnn", task);
  const FitResult result = fit(*model, task, {.steps = 300, .batch = 32, .learning_rate = 1e-2});
  EXPECT_GT(result.test.metric, 0.99);
}

TEST(Fit, TheSameSeedGivesTheSameLossesOnOneThreadAndOnTwo) {
  const int before = threads();
  for (const std::string_view name : model_names()) {
    const auto task = make_task("babi");
    const auto losses = [&](int count, std::uint64_t seed) {
      set_threads(count);
      const auto model = small_model(name, *task, 48);
      return fit(*model, *task, {.seed = seed, .steps = 8, .batch = 64, .test_samples = 64}).losses;
    };
    const auto one = losses(1, 3);
    EXPECT_EQ(one, losses(1, 3)) << name;
    EXPECT_EQ(one, losses(2, 3)) << name;
    EXPECT_NE(one, losses(1, 4)) << name;
  }
  set_threads(before);
}

TEST(Fit, ABatchDependsOnTheSeedAndTheStepAlone) {
  const auto task = make_task("babi");
  const auto model = small_model("lstm", *task);
  const auto again = small_model("lstm", *task);
  const FitOptions options{.seed = 9, .steps = 4, .batch = 8, .test_samples = 8};
  const FitResult all = fit(*model, *task, options);
  FitOptions other = options;
  other.validation_samples = 7;
  other.validate_every = 1;
  EXPECT_EQ(all.losses, fit(*again, *task, other).losses);
}

TEST(Fit, TheBestParametersAreRestored) {
  const auto task = make_task("pair-matching");
  const auto model = small_model("lstm", *task);
  // The rate rises until it ruins the model.
  const FitOptions options{.seed = 2, .steps = 60, .batch = 16, .learning_rate = 10, .warm_up = 1, .validate_every = 5, .test_samples = 100};
  const FitResult result = fit(*model, *task, options);
  EXPECT_LT(result.best_step, result.steps);
  const Evaluation now = evaluate(*model, *task, Random(2).stream("validation"), options.validation_samples);
  EXPECT_EQ(now.loss, result.validation.loss);
  EXPECT_EQ(now.metric, result.validation.metric);
}

TEST(Fit, PatienceEndsATrainingThatGainsNothing) {
  const auto task = make_task("pair-matching");
  const auto model = small_model("lstm", *task);
  const FitResult result =
      fit(*model, *task, {.steps = 1000, .batch = 4, .learning_rate = 1, .validate_every = 5, .patience = 3});
  EXPECT_LT(result.steps, 1000);
  EXPECT_EQ(result.steps, result.best_step + 15);
  EXPECT_EQ(static_cast<std::int64_t>(result.losses.size()), result.steps);
}

TEST(Fit, MetricsAreAJsonLineForEveryValidation) {
  const auto task = make_task("object-tracking");
  const auto model = small_model("gru", *task);
  std::ostringstream metrics;
  fit(*model, *task, {.steps = 10, .batch = 4, .validate_every = 4, .test_samples = 8, .metrics = &metrics});
  const std::string lines = metrics.str();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);  // after 4, 8 and 10 steps
  for (const char* key : {"\"step\":10", "\"loss\":", "\"gradient_norm\":", "\"learning_rate\":", "\"validation_mse\":",
                          "\"samples_per_second\":"})
    EXPECT_NE(lines.find(key), std::string::npos) << key;
}

TEST(Fit, DoublePrecisionTrainsInDoublePrecision) {
  const auto task = make_task("babi");
  std::unique_ptr<SequenceModel> model;
  {
    const DtypeScope scope(f64);
    model = small_model("lstm", *task);
  }
  const FitResult result = fit(*model, *task, {.steps = 2, .batch = 4, .test_samples = 8});
  EXPECT_EQ(parameters(*model).front().tensor.dtype(), f64);
  EXPECT_EQ(result.losses.size(), 2U);
}

TEST(Fit, OptionsWithoutMeaningAreRefused) {
  const auto task = make_task("babi");
  const auto model = small_model("lstm", *task);
  const auto message = [&](const FitOptions& options) -> std::string {
    try {
      fit(*model, *task, options);
    } catch (const ValueError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(message({.steps = 0}), "fit: steps is 0; it has to be above 0");
  EXPECT_EQ(message({.batch = -1}), "fit: batch is -1; it has to be above 0");
  EXPECT_EQ(message({.learning_rate = 0}), "fit: learning_rate is 0; it has to be above 0");
  EXPECT_EQ(message({.warm_up = 2}), "fit: warm_up is 2; it is a part of the steps, from 0 to 1");
  EXPECT_EQ(message({.patience = -1}), "fit: patience is -1; it counts validations, or is 0 for never");
}

TEST(Trainer, ASteadyStepTakesNothingFromTheHeap) {
  for (const std::string_view name : model_names()) {
    for (const std::string_view task_name : task_names()) {
      const auto task = make_task(task_name);
      const auto model = small_model(name, *task);
      Trainer trainer(*model, *task, {.steps = 20, .batch = 16});
      for (int step = 0; step < 5; ++step) trainer.step();
      const std::int64_t blocks = memory_stats().fresh_blocks;
      const std::int64_t allocations = heap_allocations();
      for (int step = 0; step < 10; ++step) trainer.step();
      EXPECT_EQ(heap_allocations(), allocations) << name << " on " << task_name;
      EXPECT_EQ(memory_stats().fresh_blocks, blocks) << name << " on " << task_name;
    }
  }
}

}  // namespace
}  // namespace retrace
