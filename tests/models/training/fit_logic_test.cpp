// When a training ends, which weights it keeps and what a resumed one remembers, for validations that are given.
#include <gtest/gtest.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/training.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/temporary_folder.h>

#include <string>
#include <vector>

namespace retrace {
namespace {

/// What the validations of a training give, one after the other, and in which steps it is in an easier lesson.
struct Script {
  std::vector<double> losses;
  std::vector<double> metrics = {};  // as many, or none
  std::int64_t first_full_step = 0;  // of the full task; steps before are an easier lesson
  bool more_is_better = true;
};

/// One weight, which falls in each step.
class Scripted final : public Training {
 public:
  Scripted(const Script& script, const FitOptions& options)
      : Training({{"w", weight()}}, options), script_(script), every_(options.validate_every) {}
  std::string description() const override { return "a script"; }
  std::string_view metric() const override { return "metric"; }
  bool more_is_better() const override { return script_.more_is_better; }
  Evaluation validate() const override {
    const auto at = static_cast<std::size_t>((steps() + every_ - 1) / every_ - 1);
    return {.loss = script_.losses.at(at), .metric = script_.metrics.empty() ? 0 : script_.metrics.at(at)};
  }
  double reference_loss() const override { return value(); }
  Evaluation test() const override { return {.loss = value(), .metric = 0}; }
  CurriculumState curriculum() const override { return {.lesson = at_full_task() ? 1 : 0, .accuracy = 0}; }
  bool at_full_task() const override { return steps() >= script_.first_full_step; }
  double value() const { return weights().front().tensor.item(); }

 private:
  static Tensor weight() { return Parameter(tensor(1.0, f64)); }
  Tensor loss_of(std::int64_t batch) override {
    return weights().front().tensor * (1 + 0.01 * static_cast<double>(batch));
  }

  Script script_;
  std::int64_t every_;
};

FitOptions script_options(const Script& script, std::int64_t every = 1) {
  return {.steps = static_cast<std::int64_t>(script.losses.size()) * every,
          .optimizer = "sgd",
          .learning_rate = 1e-3,
          .schedule = "constant",
          .warm_up = 0,
          .clip = 10,
          .validate_every = every};
}

struct Ending {
  std::int64_t steps, best_step;
  StopReason stopped_by;
};

/// Trains, and expects this ending with the weight that the training had after the best step.
void expect_ending(const std::string& name, const Script& script, const FitOptions& options, const Ending& want) {
  Scripted training(script, options), steps_alone(script, options);
  std::vector<double> values;
  for (std::int64_t step = 0; step < want.steps; ++step) {
    steps_alone.step();
    values.push_back(steps_alone.value());
  }
  const FitResult result = fit(training);
  EXPECT_EQ(result.steps, want.steps) << name;
  EXPECT_EQ(result.best_step, want.best_step) << name;
  EXPECT_EQ(result.stopped_by, want.stopped_by) << name;
  EXPECT_EQ(training.value(), values.at(static_cast<std::size_t>(want.best_step - 1))) << name;
  EXPECT_EQ(result.test.loss, training.value()) << name;
}

TEST(FitLogic, PatienceCountsValidationsSinceTheLastGain) {
  const auto check = [](std::int64_t patience, const std::vector<double>& losses, const Ending& want) {
    const Script script{.losses = losses};
    FitOptions options = script_options(script);
    options.patience = patience;
    expect_ending(text("patience ", patience, ", ", losses.size(), " losses"), script, options, want);
  };
  check(1, {5, 5, 1}, {2, 1, StopReason::patience});
  check(2, {5, 4, 4, 3, 3, 3, 1}, {6, 4, StopReason::patience});
  check(2, {5, 6, 4, 6, 3, 6, 6, 1}, {7, 5, StopReason::patience});
  check(3, {1, 2, 2, 0.5, 2, 2}, {6, 4, StopReason::steps});
  check(3, {1, 2, 2, 2, 2}, {4, 1, StopReason::patience});
  check(0, {1, 2, 3, 4, 5, 6}, {6, 1, StopReason::steps});
}

TEST(FitLogic, OfEqualLossesTheFirstIsBest) {
  const Script script{.losses = {3, 2, 2, 4, 2}};
  expect_ending("ties", script, script_options(script), {5, 2, StopReason::steps});
}

TEST(FitLogic, ATargetIsOfTheBestValidation) {
  const auto check = [](bool more, const std::vector<double>& losses, const std::vector<double>& metrics,
                        const Ending& want) {
    const Script script{.losses = losses, .metrics = metrics, .more_is_better = more};
    FitOptions options = script_options(script);
    options.until = 0.5;
    expect_ending(text("target, ", more), script, options, want);
  };
  check(true, {3, 2, 1}, {0.1, 0.5, 0.9}, {2, 2, StopReason::target});
  check(true, {3, 4, 1, 1}, {0.1, 0.6, 0.9, 0.9}, {3, 3, StopReason::target});
  check(true, {3, 4, 5}, {0.1, 0.6, 0.9}, {3, 1, StopReason::steps});
  check(false, {3, 2, 1}, {0.6, 0.5, 0.1}, {2, 2, StopReason::target});
  check(false, {3, 2, 1}, {0.9, 0.8, 0.7}, {3, 3, StopReason::steps});
}

TEST(FitLogic, ValidatesEverySoManyStepsAndAfterTheLast) {
  const Script script{.losses = {3, 2, 1}};
  FitOptions options = script_options(script, 3);
  options.steps = 7;
  Scripted training(script, options);
  const FitResult result = fit(training);
  ASSERT_EQ(result.history.size(), 3U);
  EXPECT_EQ(result.history[0].step, 3);
  EXPECT_EQ(result.history[1].step, 6);
  EXPECT_EQ(result.history[2].step, 7);
  EXPECT_DOUBLE_EQ(result.history[0].loss, (result.losses[0] + result.losses[1] + result.losses[2]) / 3);
  EXPECT_DOUBLE_EQ(result.history[2].loss, result.losses[6]);
}

/// A loss of an easier lesson is never kept for the full task, whose first validation is taken whatever it is.
TEST(FitLogic, TheFirstValidationOfTheFullTaskIsTaken) {
  const Script script{.losses = {1, 0.5, 9, 8, 8.5, 8.6, 1}, .first_full_step = 3};
  FitOptions options = script_options(script);
  options.patience = 2;
  expect_ending("lessons", script, options, {6, 4, StopReason::patience});
}

/// Stops after each step, goes on, and expects what the uninterrupted training gave.
void expect_the_same_when_resumed(const Script& script, FitOptions options) {
  Scripted training(script, options);
  const FitResult whole = fit(training);
  const TemporaryFolder folder;
  options.checkpoint = folder / "checkpoint";
  options.checkpoint_seconds = 0;
  for (std::int64_t stop = 1; stop < whole.steps; ++stop) {
    FitOptions first = options;
    first.on_step = [stop](const FitStep& at) { return at.step == stop ? FitAction::stop : FitAction::go_on; };
    Scripted begun(script, first);
    fit(begun);
    options.resume = true;
    Scripted resumed(script, options);
    resumed.weights().front().tensor.mutable_values<double>()[0] = 0;  // they are read next, and need not be drawn
    const FitResult rest = fit(resumed);
    options.resume = false;
    EXPECT_EQ(rest.steps, whole.steps) << stop;
    EXPECT_EQ(rest.best_step, whole.best_step) << stop;
    EXPECT_EQ(rest.stopped_by, whole.stopped_by) << stop;
    EXPECT_EQ(rest.reference_loss, whole.reference_loss) << stop;
    EXPECT_EQ(rest.validation.loss, whole.validation.loss) << stop;
    EXPECT_EQ(rest.validation.metric, whole.validation.metric) << stop;
    EXPECT_EQ(resumed.value(), training.value()) << stop;
    if (rest.history.empty()) continue;
    EXPECT_EQ(rest.history.back().loss, whole.history.back().loss) << stop;
    EXPECT_EQ(rest.history.back().last_step.gradient_norm, whole.history.back().last_step.gradient_norm) << stop;
  }
}

TEST(FitLogic, EveryMemberOfACheckpointMatters) {
  const Script script{.losses = {1, 0.5, 9, 8, 8.5, 8.6, 8.7, 1},
                      .metrics = {0, 0.1, 0.2, 0.7, 0.4, 0.5, 0.6, 0.9},
                      .first_full_step = 5};
  for (const char* optimizer : {"sgd", "adam"})
    for (const std::int64_t every : {1, 3}) {
      FitOptions options = script_options(script, every);
      options.optimizer = optimizer;
      options.accumulate = 2;
      options.average = 0.5;
      options.patience = 3;
      expect_the_same_when_resumed(script, options);
      options.patience = 0;
      options.until = 0.65;
      expect_the_same_when_resumed(script, options);
    }
}

}  // namespace
}  // namespace retrace
