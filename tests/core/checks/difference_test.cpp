// Finite differences are as accurate as rounding allows; the bound on the rounding noise holds and is not needlessly
// large.
#include <retrace/core/checks/difference.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

constexpr double first_step = 4e-3;

template <class F> SlopeAt slope_of(F f, double x) {
  return [=](double h) {
    const double above = x + h, below = x - h, up = f(above), down = f(below);
    const double magnitude = std::max(std::abs(up), std::abs(down));
    return Slope{(up - down) / (above - below), above - below, magnitude, up == down ? 0 : magnitude};
  };
}

template <class F> Difference difference_of(F f, double x) {
  return extrapolated_difference(slope_of(f, x), first_step, 1e-10, 1, [](const Difference&) { return true; });
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

/// The steps become as short as f asks for, as long as what they give is not accepted.
TEST(Difference, IsLookedForAtShorterStepsUntilItIsAccepted) {
  struct Case {
    const char* name;
    double (*f)(double);
    double x, derivative;
  };
  const Case cases[] = {
      {"beside the edge of a domain", [](double x) { return std::log(x); }, 1e-13, 1e13},
      {"fast", [](double x) { return std::sin(1e7 * x); }, 0.3, 1e7 * std::cos(3e6)},
      {"steep", [](double x) { return std::tanh(1e10 * x); }, 1e-11, 1e10 / std::pow(std::cosh(0.1), 2)},
      {"beside a kink", [](double x) { return std::abs(x); }, -1e-12, -1},
      {"beside a pole", [](double x) { return 1 / x; }, 1e-12, -1e24}};
  for (const Case& one : cases) {
    const auto is_near = [&](double value, double limit) {
      return std::abs(value - one.derivative) <= limit * std::abs(one.derivative);
    };
    EXPECT_FALSE(is_near(difference_of(one.f, one.x).value, 1e-3)) << one.name << ": the first steps are too long";
    const Difference found =
        extrapolated_difference(slope_of(one.f, one.x), first_step, 1e-10, std::abs(one.derivative),
                                [&](const Difference& it) { return is_near(it.value, 1e-7); });
    EXPECT_TRUE(is_near(found.value, 1e-7)) << one.name << ": " << found.value;
  }
}

TEST(Difference, WhereNoneIsAcceptedIsTheLeastUncertainOne) {
  const auto none = [](const Difference&) { return false; };
  for (const double x : {-2.0, 0.3, 1.7})
    EXPECT_NEAR(extrapolated_difference(slope_of(exponential, x), first_step, 1e-10, 1, none).value, std::exp(x),
                1e-10 * std::exp(x));
  EXPECT_NEAR(
      extrapolated_difference(slope_of([](double v) { return std::log(v); }, 1e-13), first_step, 1e-10, 1, none).value,
      1e13, 1e6);
}

TEST(Difference, AKinkIsNoNoise) {
  const auto kinked = [](double v) { return std::abs(v - 0.5); };
  EXPECT_NEAR(difference_of(kinked, 0.5).value, 0, 1e-12) << "the mean of both sides";
  EXPECT_LT(noise_of(kinked, 0.5), 1e-8);
}

}  // namespace
}  // namespace retrace
