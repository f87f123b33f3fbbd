// Learning rate schedules: their formulas, the boundaries of their phases, and the steps after the end.
#include <retrace/nn/schedules.h>

#include <gtest/gtest.h>

#include <cmath>

namespace retrace {
namespace {

TEST(Schedules, StepDecayFallsEverySoManySteps) {
  const StepDecay decay{.base = 0.8, .gamma = 0.5, .every = 10};
  EXPECT_EQ(decay(0), 0.8);
  EXPECT_EQ(decay(9), 0.8);
  EXPECT_EQ(decay(10), 0.4);
  EXPECT_EQ(decay(35), 0.1);
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

}  // namespace
}  // namespace retrace
