// Inverses of sine, cosine and tangent, lgamma, logit, xlogy and remainder: values and slopes beside references of 40
// digits, and the edges of their domains.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <retrace/core/checks/derivatives.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

constexpr double pi = std::numbers::pi;

struct KnownPoint {
  double x, value, slope;
};

void expect_known(const char* name, Unary f, const std::vector<KnownPoint>& points, double tolerance) {
  for (const auto& [x, value, slope_there] : points) {
    const double y = f(number(x)).item(), dy = slope(f, x);
    EXPECT_LE(std::abs(y - value), tolerance * std::abs(value)) << name << " of " << x << " is " << y;
    EXPECT_LE(std::abs(dy - slope_there), tolerance * std::abs(slope_there))
        << "slope of " << name << " at " << x << " is " << dy;
    const double single = f(number(x, f32)).item(), want = f(number(x, f32).to(f64)).item();
    EXPECT_TRUE(single == want || std::abs(single - want) <= 2e-7 * std::abs(want)) << name << " of " << x << " in f32";
  }
}

TEST(InverseFunctions, HaveKnownValuesAndSlopes) {
  expect_known("asin", asin,
               {{0.5, 0.52359877559829887308, 1.154700538379251529},
                {1e-10, 1.0000000000000000364e-10, 1},
                {-0.999999999, -1.5707516054359752999, 22360.680096789679974}},
               1e-15);
  expect_known("acos", acos,
               {{0.5, 1.0471975511965977462, -1.154700538379251529},
                {1e-10, 1.5707963266948966192, -1},
                {-0.999999999, 3.1415479322308719191, -22360.680096789679974}},
               1e-15);
  expect_known("atan", atan,
               {{1e-10, 1.0000000000000000364e-10, 1},
                {0.5, 0.46364760900080611621, 0.8},
                {-1e10, -1.5707963266948966192, 9.9999999999999999999e-21}},
               1e-15);
}

TEST(InverseFunctions, AtTheEndsOfTheirDomain) {
  EXPECT_EQ(asin(number(1)).item(), pi / 2);
  EXPECT_EQ(acos(number(-1)).item(), pi);
  EXPECT_EQ(slope(asin, -1), infinity);
  EXPECT_EQ(slope(acos, 1), -infinity);
  for (const Unary f : {Unary(asin), Unary(acos)}) {
    EXPECT_TRUE(std::isnan(f(number(1.001)).item()));
    EXPECT_TRUE(std::isnan(slope(f, -1.001)));
  }
  EXPECT_EQ(atan(number(-infinity)).item(), -pi / 2);
  EXPECT_EQ(slope(atan, infinity), 0);
}

/// Slopes of a function of two numbers.
std::pair<double, double> slopes(Binary f, double a, double b) {
  const Tensor of_a = parameter(number(a)), of_b = parameter(number(b));
  Tape tape;
  tape.backward(f(of_a, of_b));
  return {of_a.grad().item(), of_b.grad().item()};
}

TEST(Atan2, KnowsTheQuadrantAlsoOfZeros) {
  const auto at = [](double a, double b) { return atan2(number(a), number(b)).item(); };
  EXPECT_DOUBLE_EQ(at(1, 1), pi / 4);
  EXPECT_DOUBLE_EQ(at(1, -1), 3 * pi / 4);
  EXPECT_DOUBLE_EQ(at(-1, -1), -3 * pi / 4);
  EXPECT_DOUBLE_EQ(at(-1, 1), -pi / 4);
  EXPECT_EQ(at(0, 0), 0);
  EXPECT_EQ(at(0, -0.0), pi);
  EXPECT_EQ(at(-0.0, -1), -pi);
  EXPECT_TRUE(std::isnan(at(nan, 1)));
}

TEST(Atan2, HasSlopesForPointsOfAnySizeAndNoneAtTheOrigin) {
  for (const double size : {1.0, 1e200, 1e-200})
    for (const auto& [a, b] : {std::pair(3.0, 4.0), {-4.0, 3.0}, {3.0, -4.0}, {-4.0, -3.0}, {5.0, 0.0}, {0.0, -5.0}}) {
      const auto [da, db] = slopes(atan2, size * a, size * b);
      EXPECT_NEAR(da * size, b / 25, 1e-15) << a << ", " << b;
      EXPECT_NEAR(db * size, -a / 25, 1e-15) << a << ", " << b;
    }
  EXPECT_EQ(slopes(atan2, 0, 0), std::pair(0.0, 0.0));
  EXPECT_TRUE(
      std::isnan(hessian([](const Tensor& x) { return square(atan2(x[0], x[1])); }, zeros({2}, f64)).at({0, 0})));
}

TEST(Lgamma, HasKnownValuesAndSlopes) {
  expect_known("lgamma", lgamma,
               {{0.5, 0.57236494292470008707, -1.9635100260214234794},
                {3, 0.69314718055994530942, 0.92278433509846713939},
                {1e-3, 6.9071788853838536617, -1000.5755719318102797},
                {1e-300, 690.77552789821370518, -9.9999999999999997494e+299},
                {9.999, 12.799575780077413715, 2.2516474172057353142},
                {20, 39.339884187199494036, 2.9705239922421490509},
                {1e10, 220258509288.81058147, 23.02585092989045684},
                {-1.5, 0.86004701537648101451, 0.70315664064524318723},
                {-20.25, -41.600961915340524302, 6.1742356336144837692}},
               2e-15);
  EXPECT_NEAR(slope(lgamma, 1.5), 0.036489973978576520559, 1e-15);
  EXPECT_NEAR(slope(lgamma, -0.5), 0.036489973978576520559, 1e-15);
  EXPECT_EQ(lgamma(number(1)).item(), 0);
  EXPECT_EQ(lgamma(number(2)).item(), 0);
}

TEST(Lgamma, HasTheSecondDerivativesOfTrigamma) {
  const std::vector<double> points{0.5, 3, 1e-3, 20, 1e10, -0.5, -20.25};
  const std::vector<double> trigamma{4.9348022005446793094,   0.39493406684822643647, 1000001.6425331958273,
                                     0.051270822935203119832, 1.00000000005e-10,      8.9348022005446793094,
                                     19.691025351008711426};
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double second = hessian(lgamma, number(points[k])).item();
    EXPECT_LE(std::abs(second - trigamma[k]), 1e-14 * trigamma[k]) << points[k] << ": " << second;
  }
}

TEST(Lgamma, IsInfiniteAtItsPoles) {
  for (const double pole : {0.0, -0.0, -1.0, -2.0, -1e17, -infinity}) {
    EXPECT_EQ(lgamma(number(pole)).item(), infinity) << pole;
  }
  for (const double pole : {-1.0, -2.0, -1e17, -infinity}) EXPECT_TRUE(std::isnan(slope(lgamma, pole))) << pole;
  EXPECT_EQ(slope(lgamma, 0), -infinity);
  EXPECT_EQ(slope(lgamma, -0.0), infinity);
  EXPECT_EQ(lgamma(number(infinity)).item(), infinity);
  EXPECT_EQ(slope(lgamma, infinity), infinity);
}

Tensor plain_logit(const Tensor& x) { return logit(x); }
Tensor clipped_logit(const Tensor& x) { return logit(x, 0.25); }

TEST(Logit, KeepsFullPrecisionAtZeroAHalfAndOne) {
  expect_known("logit", plain_logit,
               {{1e-20, -46.051701859880913735, 1.0000000000000000549e+20},
                {0.2, -1.3862943611198905494, 6.2499999999999997398},
                {0.4999999, -4.0000000001150759914e-7, 4.00000000000016},
                {0.5, 0, 4},
                {0.6, 0.40546510810816428946, 4.1666666666666665896},
                {0.75, 1.0986122886681096914, 5.3333333333333333333},
                {1 - std::ldexp(1, -50), 34.657359027997264583, 1125899906842625.0}},
               5e-16);
  EXPECT_EQ(plain_logit(number(0)).item(), -infinity);
  EXPECT_EQ(plain_logit(number(1)).item(), infinity);
  EXPECT_EQ(slope(plain_logit, 0), infinity);
  for (const double outside : {-0.1, 1.1}) {
    EXPECT_TRUE(std::isnan(plain_logit(number(outside)).item()));
    EXPECT_TRUE(std::isnan(slope(plain_logit, outside)));
  }
}

TEST(Logit, ClipsToWhatEpsAllows) {
  EXPECT_DOUBLE_EQ(clipped_logit(number(-3)).item(), -std::log(3));
  EXPECT_DOUBLE_EQ(clipped_logit(number(0.9)).item(), std::log(3));
  EXPECT_EQ(slope(clipped_logit, 0.9), 0);
  EXPECT_EQ(slope(clipped_logit, 0.75), 1 / (0.75 * 0.25));
  EXPECT_TRUE(std::isnan(clipped_logit(number(nan)).item()));
  for (const double eps : {-0.1, 0.51, nan})
    expect_error<ValueError>([=] { logit(zeros({2}), eps); }, text("logit: x[2] with eps ", eps, "; give 0 to 0.5"));
}

TEST(Xlogy, IsZeroWhereAIsAndHasTheSlopesOfPyTorch) {
  const auto at = [](double a, double b) { return xlogy(number(a), number(b)).item(); };
  EXPECT_DOUBLE_EQ(at(2, 3), 2 * std::log(3));
  for (const double b : {0.0, -1.0, 5.0, infinity}) EXPECT_EQ(at(0, b), 0) << b;
  EXPECT_TRUE(std::isnan(at(0, nan)));
  EXPECT_TRUE(std::isnan(at(1, -1)));
  EXPECT_EQ(at(2, 0), -infinity);
  EXPECT_EQ(slopes(xlogy, 2, 4), std::pair(std::log(4.0), 0.5));
  EXPECT_EQ(slopes(xlogy, 0, 4), std::pair(std::log(4.0), 0.0));
  EXPECT_EQ(slopes(xlogy, 0, 0), std::pair(0.0, 0.0));
  EXPECT_EQ(slopes(xlogy, 2, 0), std::pair(-infinity, infinity));
}

TEST(Xlogy, HasTheMixedSecondDerivativeAlsoWhereAIsZero) {
  const auto f = [](const Tensor& x) { return xlogy(x[0], x[1]); };
  expect_near(hessian(f, tensor({0, 4}, f64)), tensor({{0, 0.25}, {0.25, 0}}, f64), 1e-16);
}

TEST(Remainder, HasTheSignOfTheDivisorAsInPython) {
  const auto at = [](double a, double b) { return remainder(number(a), number(b)).item(); };
  EXPECT_EQ(at(7.5, 2), 1.5);
  EXPECT_EQ(at(-7.5, 2), 0.5);
  EXPECT_EQ(at(7.5, -2), -0.5);
  EXPECT_EQ(at(-7.5, -2), -1.5);
  EXPECT_EQ(at(6, 3), 0);
  EXPECT_EQ(at(1, 0.1), 0.09999999999999995);
  EXPECT_EQ(at(-1e-20, 3), 3);
  EXPECT_EQ(at(2, infinity), 2);
  EXPECT_EQ(at(-2, infinity), infinity);
  EXPECT_TRUE(std::isnan(at(1, 0)));
  EXPECT_TRUE(std::isnan(at(infinity, 1)));
}

TEST(Remainder, HasTheSlopesOfItsQuotient) {
  EXPECT_EQ(slopes(remainder, 7.5, 2), std::pair(1.0, -3.0));
  EXPECT_EQ(slopes(remainder, -7.5, 2), std::pair(1.0, 4.0));
  EXPECT_EQ(slopes(remainder, 7.5, -2), std::pair(1.0, 4.0));
  EXPECT_EQ(slopes(remainder, 1, 0.1), std::pair(1.0, -9.0)) << "and not -floor(1 / 0.1), of a rounded quotient";
  EXPECT_EQ(slopes(remainder, 0.5, 2), std::pair(1.0, 0.0));
}

}  // namespace
}  // namespace retrace
