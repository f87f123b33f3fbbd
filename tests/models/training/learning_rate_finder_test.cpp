// The loss under a rising learning rate.
#include <retrace/models/training/learning_rate_finder.h>

#include <gtest/gtest.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/nn/module/names.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace retrace {
namespace {

/// loss = (w - 1)^2 / 2 from w = 0, by plain descent: w - 1 becomes (1 - rate) (w - 1).
class Parabola final : public Training {
 public:
  explicit Parabola(const Tensor& w, FitOptions options = {.optimizer = "sgd", .clip = 1e9})
      : Training({{"w", w}}, options), w_(w) {}
  std::string description() const override { return "parabola"; }
  std::string_view metric() const override { return "loss"; }
  Evaluation validate() const override { return {}; }
  Evaluation test() const override { return {}; }

 private:
  Tensor loss_of(std::int64_t) override { return 0.5 * sum(square(w_ - 1.0)); }
  Tensor w_;
};

TEST(LearningRateFinder, RisesByOneFactorAndSmoothsWithoutABias) {
  const Tensor w = parameter(zeros({1}, f64));
  Parabola training(w);
  const LearningRateCurve curve =
      find_learning_rate(training, {.lowest = 0.01, .highest = 1, .steps = 3, .smoothing = 0.5});
  ASSERT_EQ(curve.points.size(), 3U);
  EXPECT_DOUBLE_EQ(curve.points[0].rate, 0.01);
  EXPECT_DOUBLE_EQ(curve.points[1].rate, 0.1);
  EXPECT_DOUBLE_EQ(curve.points[2].rate, 1);
  EXPECT_DOUBLE_EQ(curve.points[0].loss, 0.5);
  EXPECT_DOUBLE_EQ(curve.points[0].smoothed, 0.5);
  const double second = 0.5 * 0.99 * 0.99;
  EXPECT_NEAR(curve.points[1].loss, second, 1e-15);
  EXPECT_NEAR(curve.points[1].smoothed, (0.5 + 2 * second) / 3, 1e-15);
  EXPECT_DOUBLE_EQ(curve.suggested, 0.01) << "a tenth of 0.1: the average is lowest at 1, one step late";
  EXPECT_EQ(w.item(), 0) << "the weights are put back";
  EXPECT_FALSE(w.has_grad());
}

/// With the momentum 0.9 of fit's sgd, descent on this parabola diverges from a rate of 3.8 on.
TEST(LearningRateFinder, EndsWhereTheLossHasRisen) {
  const Tensor w = parameter(zeros({1}, f64));
  Parabola training(w);
  const LearningRateCurve curve = find_learning_rate(training, {.lowest = 1e-3, .highest = 1e6, .steps = 200});
  EXPECT_LT(curve.points.size(), 200U);
  EXPECT_LT(curve.suggested, 3.8);
  EXPECT_GT(curve.suggested, 1e-3);
  const auto of_smoothed = [](const LearningRatePoint& a, const LearningRatePoint& b) {
    return a.smoothed < b.smoothed;
  };
  const double lowest = std::ranges::min_element(curve.points, of_smoothed)->smoothed;
  EXPECT_GT(curve.points.back().smoothed, 4 * lowest);
  EXPECT_LE(curve.points[curve.points.size() - 2].smoothed, 4 * lowest);
}

TEST(LearningRateFinder, EndsWhereALossIsNotFinite) {
  const Tensor w = parameter(zeros({1}));
  Parabola training(w);
  const LearningRateCurve curve =
      find_learning_rate(training, {.lowest = 1e-2, .highest = 1e38, .steps = 9, .stop_at = 1e300});
  EXPECT_LT(curve.points.size(), 9U);
  for (const LearningRatePoint& point : curve.points) EXPECT_TRUE(std::isfinite(point.smoothed));
  EXPECT_EQ(w.item(), 0);
  w.mutable_values<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  Parabola spoilt(w);
  EXPECT_THROW(find_learning_rate(spoilt), DivergenceError);
}

TEST(LearningRateFinder, OfAModelChangesNothingAndSuggestsARateThatLearns) {
  const SequenceTask task(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  Random random(1);
  const auto model =
      make_model("lstm", {.input = task.input_size(), .hidden = 16, .output = task.output_size()}, random);
  const std::string before = weights_hash(*model);
  const LearningRateCurve curve = find_learning_rate(*model, task, {.batch = 32});
  EXPECT_EQ(weights_hash(*model), before);
  EXPECT_GT(curve.suggested, 3e-4);
  EXPECT_LT(curve.suggested, 0.05);
  const FitResult result =
      fit(*model, task, {.steps = 200, .batch = 32, .learning_rate = curve.suggested, .test_samples = 500});
  EXPECT_LT(result.losses.back(), 0.5 * result.losses.front()) << curve.suggested;
}

TEST(LearningRateFinder, WrongSearchesAreNamed) {
  const Tensor w = parameter(zeros({1}, f64));
  Parabola training(w);
  const auto message = [&](const LearningRateSearch& search) {
    return message_of([&] { find_learning_rate(training, search); });
  };
  EXPECT_EQ(message({.lowest = 1, .highest = 1}),
            "find_learning_rate: the rate goes from 1 to 1; it has to rise from a number above 0");
  EXPECT_EQ(message({.lowest = 0}),
            "find_learning_rate: the rate goes from 0 to 1; it has to rise from a number above 0");
  EXPECT_EQ(message({.steps = 1}), "find_learning_rate: steps is 1; it has to be 2 or more");
  EXPECT_EQ(message({.smoothing = 1}), "find_learning_rate: smoothing is 1; it has to be from 0 to below 1");
  EXPECT_EQ(message({.stop_at = 1}), "find_learning_rate: stop_at is 1; it has to be above 1");
}

}  // namespace
}  // namespace retrace
