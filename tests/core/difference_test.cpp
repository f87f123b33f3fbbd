// Finite differences are as accurate as rounding allows; the bound on the rounding noise holds and is not needlessly
// large.
#include <retrace/core/difference.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

constexpr double first_step = 4e-3;

template <class F> SlopeAt slope_of(F f, double x) {
  return [=](double h) {
    const double above = x + h, below = x - h, up = f(above), down = f(below);
    return Slope{(up - down) / (above - below), above - below, std::max(std::abs(up), std::abs(down))};
  };
}

template <class F> Difference difference_of(F f, double x) {
  return extrapolated_difference(slope_of(f, x), first_step, 1e-10, 1);
}

template <class F> double noise_of(F f, double x) {
  return rounding_noise(slope_of(f, x), first_step, difference_of(f, x));
}

double exponential(double x) { return std::exp(x); }

TEST(Difference, OfASmoothFunctionIsExactToTenDigits) {
  for (const double x : {-2.0, 0.0, 0.3, 1.7}) {
    EXPECT_NEAR(difference_of(exponential, x).value, std::exp(x), 1e-10 * std::exp(x));
    EXPECT_NEAR(difference_of(exponential, x).width, 2 * first_step / 4, 1e-12) << "three steps are enough";
  }
}

TEST(Difference, OfASmoothFunctionHasLittleNoise) {
  for (const double x : {-2.0, 0.0, 0.3, 1.7}) EXPECT_LT(noise_of(exponential, x), 1e-9 * std::exp(x));
}

/// The constants hide 8 to 26 of the 52 bits of x, so the slope is wrong by up to the noise.
TEST(Difference, NoiseBoundsWhatIsLostBesideALargeValue) {
  int wrong = 0;
  for (const double large : {1e4, 1e6, 1e8})
    for (int k = 0; k < 200; ++k) {
      const double x = std::sin(1.0 + k), noise_of_results = 4.5e-16 * large / (2 * first_step);
      const auto beside = [=](double v) { return v + large; };
      const auto beside_and_back = [=](double v) { return (v + large) - large; };
      EXPECT_LE(std::abs(difference_of(beside, x).value - 1), noise_of(beside, x));
      EXPECT_GE(min_rounding_noise(difference_of(beside, x)), noise_of_results);
      EXPECT_LT(min_rounding_noise(difference_of(beside_and_back, x)), 1e-9) << "the results do not show it";
      wrong += std::abs(difference_of(beside_and_back, x).value - 1) > noise_of(beside_and_back, x) ? 1 : 0;
    }
  EXPECT_LE(wrong, 1) << "measured noise is a sample";
}

TEST(Difference, AKinkIsNoNoise) {
  const auto kinked = [](double v) { return std::abs(v - 0.5); };
  EXPECT_NEAR(difference_of(kinked, 0.5).value, 0, 1e-12) << "the mean of both sides";
  EXPECT_LT(noise_of(kinked, 0.5), 1e-8);
}

}  // namespace
}  // namespace retrace
