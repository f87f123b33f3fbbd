// Groups of parameters, an average of the weights, callbacks, and losses and metrics of one's own.
#include <gtest/gtest.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/models/training/fit.h>
#include <retrace/nn/optim/ema.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace retrace {
namespace {

const Task& pairs() {
  static const SequenceTask task(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  return task;
}

std::unique_ptr<SequenceModel> new_model() {
  Random random = Random(1).stream("weights");
  return make_model("lstm", {.input = pairs().input_size(), .hidden = 8, .output = pairs().output_size()}, random);
}

FitOptions short_fit() { return {.steps = 12, .batch = 8, .learning_rate = 1e-2, .test_samples = 16}; }

TEST(FitGroups, EveryOptimizerHasThem) {
  for (const std::string_view optimizer : optimizer_names()) {
    const auto model = new_model(), before = new_model();
    FitOptions options = short_fit();
    options.optimizer = optimizer;
    options.groups = {{.names = "weight_hh", .rate = 0}, {.names = "weight", .rate = 0.5}};
    fit(*model, pairs(), options);
    const auto now = parameters(*model), then = parameters(*before);
    for (std::size_t k = 0; k < now.size(); ++k) {
      const bool same = weights_hash({now[k]}) == weights_hash({then[k]});
      EXPECT_EQ(same, now[k].name.find("weight_hh") != std::string::npos) << optimizer << ": " << now[k].name;
    }
  }
}

TEST(FitGroups, AGroupOfEverythingAtTheSameRateChangesNoBit) {
  const auto plain = new_model(), grouped = new_model();
  FitOptions options = short_fit();
  fit(*plain, pairs(), options);
  options.groups = {{.names = "bias"}, {.names = ""}};
  fit(*grouped, pairs(), options);
  EXPECT_EQ(weights_hash(*plain), weights_hash(*grouped));
}

/// Where all gradients are 0, the decay is alone: w *= 1 - lr weight_decay in each step.
TEST(FitGroups, AWeightDecayOfTheirOwn) {
  const auto model = new_model(), before = new_model();
  FitOptions options = short_fit();
  options.optimizer = "adamw";
  options.schedule = "constant";
  options.warm_up = 0;
  options.groups = {{.names = "weight", .weight_decay = 10}};
  options.measures.loss = [](const Tensor& output, const Batch&) { return mean(output) * 0; };
  fit(*model, pairs(), options);
  const auto now = parameters(*model), then = parameters(*before);
  for (std::size_t k = 0; k < now.size(); ++k) {
    const double factor = now[k].name.find("weight") != std::string::npos ? std::pow(1 - 1e-2 * 10, 12) : 1;
    const float last = now[k].tensor.values<float>().back(), first = then[k].tensor.values<float>().back();
    EXPECT_NEAR(last, first * factor, 1e-6) << now[k].name;
  }
}

TEST(FitGroups, WrongOnesAreNamed) {
  const auto model = new_model();
  const auto message = [&](const FitOptions& options) { return message_of([&] { fit(*model, pairs(), options); }); };
  EXPECT_EQ(message({.groups = {{.names = "wieght"}}}),
            "fit: no parameter is in the group 'wieght'; it takes those whose names contain this and that no group "
            "before it took");
  EXPECT_EQ(message({.groups = {{.names = "weight", .rate = -1}}}),
            "fit: the rate of a group is -1; it has to be a number of 0 or more");
  EXPECT_EQ(message({.specialise = -1}), "fit: specialise is -1; it has to be a number of 0 or more");
  EXPECT_EQ(message({.average = 1}), "fit: average is 1; it has to be from 0 to below 1");
}

TEST(FitFrozen, WhatIsFrozenStaysAsItWas) {
  const auto model = new_model(), before = new_model();
  for (const NamedTensor& parameter : parameters(*model))
    if (parameter.name.find("weight_hh") != std::string::npos) parameter.tensor.freeze();
  FitOptions options = short_fit();
  options.weight_decay = 0.1;
  options.average = 0.5;
  fit(*model, pairs(), options);
  const auto now = parameters(*model), then = parameters(*before);
  for (std::size_t k = 0; k < now.size(); ++k)
    EXPECT_EQ(weights_hash({now[k]}) == weights_hash({then[k]}), !now[k].tensor.wants_gradient()) << now[k].name;
}

TEST(FitAverage, IsWhatTheModelHasInTheEndAndWhatWasValidated) {
  const auto model = new_model(), plain = new_model();
  Ema by_hand(*model, {.decay = 0.8, .rising = true});
  FitOptions options = short_fit();
  fit(*plain, pairs(), options);
  options.average = 0.8;
  options.on_step = [&](const FitStep&) { return by_hand.update(), FitAction::go_on; };
  Evaluation validated;
  options.on_validation = [&](const Metrics& metrics) {
    validated = evaluate(*model, pairs(), Random(0).stream("validation"), options.validation_samples);
    EXPECT_EQ(metrics.validation.loss, validated.loss);
    return FitAction::go_on;
  };
  const FitResult result = fit(*model, pairs(), options);
  EXPECT_EQ(weights_hash(*model), weights_hash(by_hand.averages()));
  EXPECT_NE(weights_hash(*model), weights_hash(*plain));
  EXPECT_EQ(result.validation.loss, validated.loss);
}

TEST(FitAverage, OfATrainingThatEndsBeforeItsFirstValidationIsWhatTheModelHas) {
  const auto model = new_model();
  Ema by_hand(*model, {.decay = 0.8, .rising = true});
  FitOptions options = short_fit();
  options.average = 0.8;
  options.validate_every = 1000;
  options.on_step = [&](const FitStep& step) {
    by_hand.update();
    return step.step == 5 ? FitAction::stop : FitAction::go_on;
  };
  const FitResult result = fit(*model, pairs(), options);
  EXPECT_EQ(weights_hash(*model), weights_hash(by_hand.averages()));
  EXPECT_EQ(result.best_step, 5);
  EXPECT_TRUE(std::isinf(result.validation.loss));
}

TEST(FitCallbacks, SeeEveryStepAndStopATraining) {
  FitOptions options = short_fit();
  options.validate_every = 2;
  std::vector<std::int64_t> steps;
  std::vector<double> losses;
  options.on_step = [&](const FitStep& step) {
    steps.push_back(step.step);
    losses.push_back(step.report.loss);
    return step.step == 5 ? FitAction::stop : FitAction::go_on;
  };
  auto model = new_model();
  const FitResult result = fit(*model, pairs(), options);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(losses, result.losses);
  EXPECT_EQ(result.steps, 5);
  EXPECT_EQ(result.stopped_by, StopReason::callback);
  EXPECT_EQ(name_of(result.stopped_by), "callback");
  EXPECT_TRUE(std::isfinite(result.test.loss)) << "it is tested, unlike a training that a signal ended";
  options.on_step = {};
  options.on_validation = [](const Metrics& metrics) { return metrics.step == 6 ? FitAction::stop : FitAction::go_on; };
  model = new_model();
  EXPECT_EQ(fit(*model, pairs(), options).steps, 6);
}

TEST(FitMeasures, ALossAndAMetricOfOnesOwn) {
  const auto plain = new_model(), model = new_model();
  FitOptions options = short_fit();
  const FitResult usual = fit(*plain, pairs(), options);
  options.measures = {
      .loss = [](const Tensor& output, const Batch& batch) { return 2 * cross_entropy(output, batch.y); },
      .metric = [](const Tensor& output, const Batch&) { return output.dim(0) < 256 ? 1.0 : 3.0; },
      .metric_name = "portions",
      .more_is_better = false};
  options.validation_samples = 256 + 64;
  options.until = 2.7;  // (256 * 3 + 64 * 1) / 320 = 2.6
  options.validate_every = 1;
  const FitResult result = fit(*model, pairs(), options);
  EXPECT_FLOAT_EQ(static_cast<float>(result.losses[0]), static_cast<float>(2 * usual.losses[0]));
  EXPECT_EQ(result.history.back().metric_name, "portions");
  EXPECT_DOUBLE_EQ(result.validation.metric, 2.6);
  EXPECT_EQ(result.stopped_by, StopReason::target);
  EXPECT_EQ(result.steps, 1) << "less is better";
  EXPECT_EQ(result.test.metric, 1);
}

}  // namespace
}  // namespace retrace
