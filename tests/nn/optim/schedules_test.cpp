// Learning rate schedules: their formulas, the boundaries of their phases, and the steps after the end.
#include <retrace/nn/optim/schedules.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <retrace/nn/optim/reduce_on_plateau.h>

namespace retrace {
namespace {

TEST(Schedules, StepDecayFallsEverySoManySteps) {
  const StepDecay decay{.base = 0.8, .gamma = 0.5, .every = 10};
  EXPECT_EQ(decay(0), 0.8);
  EXPECT_EQ(decay(9), 0.8);
  EXPECT_EQ(decay(10), 0.4);
  EXPECT_EQ(decay(35), 0.1);
}

TEST(Schedules, MultiStepDecayFallsAtItsMilestones) {
  const MultiStepDecay decay{.base = 0.8, .milestones = {3, 10}, .gamma = 0.5};
  EXPECT_EQ(decay(0), 0.8);
  EXPECT_EQ(decay(2), 0.8);
  EXPECT_EQ(decay(3), 0.4);
  EXPECT_EQ(decay(9), 0.4);
  EXPECT_EQ(decay(10), 0.2);
  EXPECT_EQ(decay(1000), 0.2);
  EXPECT_EQ((MultiStepDecay{.base = 2}(5)), 2) << "no milestones";
  for (const std::vector<std::int64_t>& wrong : {std::vector<std::int64_t>{5, 5}, {5, 3}, {-1}})
    EXPECT_THROW((MultiStepDecay{.base = 1, .milestones = wrong}(0)), ValueError);
}

TEST(Schedules, WarmRestartsBeginAgainAfterEachPeriod) {
  const WarmRestarts even{.base = 1, .min = 0.1, .period = 10};
  for (const std::int64_t start : {0, 10, 50, 1000000}) {
    EXPECT_EQ(even(start), 1) << start;
    EXPECT_DOUBLE_EQ(even(start + 5), 0.55) << start;
  }
  EXPECT_DOUBLE_EQ(even(9), 0.1 + 0.45 * (1 + std::cos(0.9 * std::numbers::pi)));
  const WarmRestarts growing{.base = 1, .period = 3, .growth = 2};  // 3, 6, 12, ... steps
  for (const std::int64_t start : {0, 3, 9, 21, 45}) EXPECT_EQ(growing(start), 1) << start;
  EXPECT_DOUBLE_EQ(growing(6), 0.5);
  EXPECT_DOUBLE_EQ(growing(15), 0.5);
  EXPECT_GT(growing(std::int64_t{1} << 50), 0);
}

TEST(Schedules, CyclicRisesAndFallsOverAndOver) {
  const Cyclic even{.base = 1, .min = 0.2, .rise = 4, .fall = 2};
  for (const std::int64_t start : {0, 6, 600}) {
    EXPECT_DOUBLE_EQ(even(start), 0.2) << start;
    EXPECT_DOUBLE_EQ(even(start + 2), 0.6) << start;
    EXPECT_DOUBLE_EQ(even(start + 4), 1) << start;
    EXPECT_DOUBLE_EQ(even(start + 5), 0.6) << start;
  }
  const Cyclic halved{.base = 1, .min = 0.2, .rise = 4, .fall = 4, .shrink = 0.5};
  EXPECT_DOUBLE_EQ(halved(4), 1);
  EXPECT_DOUBLE_EQ(halved(12), 0.6);
  EXPECT_DOUBLE_EQ(halved(20), 0.4);
  const Cyclic fading{.base = 1, .rise = 2, .fall = 2, .gamma = 0.9};
  EXPECT_DOUBLE_EQ(fading(2), 0.81);
  EXPECT_DOUBLE_EQ(fading(3), 0.5 * 0.729);
}

TEST(Schedules, WarmUpCosineRisesThenFallsToItsMinimum) {
  const WarmUpCosine schedule{.base = 1, .min = 0.1, .warm_up = 10, .steps = 110};
  EXPECT_DOUBLE_EQ(schedule(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule(4), 0.5);
  EXPECT_DOUBLE_EQ(schedule(9), 1);
  EXPECT_DOUBLE_EQ(schedule(10), 1);
  EXPECT_DOUBLE_EQ(schedule(35), 0.1 + 0.45 * (1 + std::sqrt(0.5)));
  EXPECT_DOUBLE_EQ(schedule(60), 0.55);
  EXPECT_DOUBLE_EQ(schedule(110), 0.1);
  EXPECT_EQ((WarmUpCosine{.base = 2, .steps = 4}(0)), 2);
}

TEST(Schedules, WarmUpCosineStaysAtItsMinimumBeyondTheEnd) {
  const WarmUpCosine schedule{.base = 1, .min = 0.25, .warm_up = 2, .steps = 6};
  for (const std::int64_t step : {6, 7, 10, 1000}) EXPECT_EQ(schedule(step), 0.25) << step;
  const WarmUpCosine all_warm_up{.base = 1, .min = 0.25, .warm_up = 4, .steps = 4};
  EXPECT_EQ(all_warm_up(3), 1);
  EXPECT_EQ(all_warm_up(4), 0.25);
  EXPECT_EQ(all_warm_up(5), 0.25);
}

TEST(Schedules, LinearDecayRisesThenFallsAlongALine) {
  const LinearDecay schedule{.base = 1, .min = 0.2, .warm_up = 2, .steps = 10};
  EXPECT_EQ(schedule(0), 0.5);
  EXPECT_EQ(schedule(1), 1);
  EXPECT_EQ(schedule(2), 1);
  EXPECT_DOUBLE_EQ(schedule(6), 0.6);
  EXPECT_DOUBLE_EQ(schedule(9), 0.3);
  for (const std::int64_t step : {10, 11, 1000}) EXPECT_EQ(schedule(step), 0.2) << step;
}

TEST(Schedules, InverseSqrtFallsWithTheRootOfTheStep) {
  const InverseSqrt schedule{.base = 0.5, .warm_up = 4};
  EXPECT_EQ(schedule(0), 0.125);
  EXPECT_EQ(schedule(3), 0.5);
  EXPECT_EQ(schedule(15), 0.25);
  EXPECT_EQ(schedule(63), 0.125);
  EXPECT_EQ((InverseSqrt{.base = 2}(0)), 2);
}

void expect_rates(const OneCycle& schedule, const std::vector<double>& want) {
  for (std::size_t step = 0; step < want.size(); ++step)
    EXPECT_NEAR(schedule(static_cast<std::int64_t>(step)), want[step], 1e-15) << step;
}

/// The rates of OneCycleLR of PyTorch 1.13, over 10 steps.
TEST(Schedules, OneCycleIsThatOfPyTorch) {
  expect_rates({.base = 0.5, .steps = 10},
               {0.02, 0.26, 0.5, 0.47524231600673683, 0.40587282697488153, 0.30563101096814466, 0.19437098903185537,
                0.09412917302511849, 0.024759683993263143, 2e-06, 2e-06, 2e-06});
  expect_rates(
      {.base = 0.5, .steps = 10, .rise = 0.4, .start_divisor = 10, .end_divisor = 100, .anneal = Anneal::linear},
      {0.05, 0.2, 0.35, 0.5, 0.41675, 0.3335, 0.25025, 0.167, 0.08375, 0.0005});
  expect_rates({.base = 0.5, .steps = 10, .three_phases = true},
               {0.02, 0.26, 0.5, 0.26, 0.02, 0.0180903609267551, 0.0130908609267551, 0.0069111390732449025,
                0.0019116390732449018, 2e-06});
}

TEST(Schedules, OneCycleOfVeryFewStepsIsFinite) {
  for (const std::int64_t steps : {1, 2, 3, 4})
    for (const bool three_phases : {false, true})
      for (std::int64_t step = 0; step < 6; ++step) {
        const double rate = OneCycle{.base = 1, .steps = steps, .three_phases = three_phases}(step);
        EXPECT_TRUE(rate > 0 && rate <= 1) << rate << " at step " << step << " of " << steps;
      }
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> losses{1.0,  0.9,  0.9, 0.89995, 0.9, 0.9, 0.8, 0.9, 0.95, 0.9,
                                 0.91, 0.92, 0.5, 0.6,     0.6, 0.6, 0.6, 0.6, 0.6};

void expect_halvings(ReduceOnPlateau plateau, const std::vector<double>& metrics, const std::vector<double>& want) {
  ASSERT_EQ(metrics.size(), want.size());
  for (std::size_t k = 0; k < want.size(); ++k) EXPECT_EQ(plateau(metrics[k]), want[k]) << k;
}

/// The rates of ReduceLROnPlateau of PyTorch 1.13.
TEST(Schedules, ReduceOnPlateauIsThatOfPyTorch) {
  expect_halvings({.base = 1, .factor = 0.5, .patience = 1}, losses,
                  {1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125, 0.0625, 0.0625, 0.0625, 0.0625, 0.03125,
                   0.03125, 0.015625, 0.015625, 0.0078125});
  expect_halvings(
      {.base = 1, .factor = 0.5, .patience = 1, .cooldown = 2}, losses,
      {1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.125, 0.0625});
  expect_halvings({.base = 1, .factor = 0.5, .patience = 1, .min = 0.2}, losses,
                  {1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2});
  expect_halvings({.base = 1, .factor = 0.5, .patience = 0, .threshold = 0.15, .gain = Gain::absolute}, losses,
                  {1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.001953125,
                   0.0009765625, 0.0009765625, 0.00048828125, 0.000244140625, 0.0001220703125, 6.103515625e-05,
                   3.0517578125e-05, 1.52587890625e-05});
  expect_halvings({.base = 1, .factor = 0.5, .patience = 2, .better = Better::higher}, losses,
                  {1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.0625, 0.0625, 0.0625, 0.03125,
                   0.03125, 0.03125, 0.015625});
  expect_halvings({.base = 1, .factor = 0.5, .patience = 1}, {1, nan, nan, 0.5, nan}, {1, 1, 0.5, 0.5, 0.5});
}

/// PyTorch would take -1.00001 for no better than -1 + 0.0001, and -0.99995 for better than -1.
TEST(Schedules, ReduceOnPlateauKnowsNegativeLosses) {
  ReduceOnPlateau plateau{.base = 1, .factor = 0.5, .patience = 0};
  EXPECT_EQ(plateau(-1), 1);
  EXPECT_EQ(plateau(-0.99995), 0.5);
  EXPECT_EQ(plateau(-1.01), 0.5);
  EXPECT_EQ(plateau.state.best, -1.01);
  EXPECT_EQ(plateau(nan), 0.25);
}

/// A perplexity overflows before the training has begun to learn: every number after it is a gain.
TEST(Schedules, ReduceOnPlateauRecoversFromAnInfiniteMetric) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Gain gain : {Gain::relative, Gain::absolute}) {
    const ReduceOnPlateau lower{.base = 1, .factor = 0.5, .patience = 0, .gain = gain};
    expect_halvings(lower, {infinity, 50, 20, 10, 10}, {1, 1, 1, 1, 0.5});
    expect_halvings(lower, {infinity, infinity, 50}, {1, 0.5, 0.5});
    expect_halvings(lower, {3, -infinity, 2, infinity, 1}, {1, 0.5, 0.5, 0.25, 0.25});
    const ReduceOnPlateau higher{.base = 1, .factor = 0.5, .patience = 0, .better = Better::higher, .gain = gain};
    expect_halvings(higher, {-infinity, -50, -20, infinity, -10}, {1, 1, 1, 0.5, 0.5});
  }
}

}  // namespace
}  // namespace retrace
