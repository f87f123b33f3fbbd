// Single ops at critical points: tails, kinks, infinities, the edges of a domain, dtypes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

void expect_relative(double got, double want, double tolerance, const std::string& what) {
  EXPECT_LE(std::abs(got - want), tolerance * std::abs(want)) << what << ": " << got << " is not " << want;
}

struct TailCase {
  const char* name;
  Unary f;
  double x, value, slope;
};

// Reference values from series evaluated in higher precision.
TEST(Activations, TailsKeepFullPrecision) {
  const double e40 = std::exp(-40.0);
  const std::vector<TailCase> cases{
      {"sigmoid", sigmoid, -40, e40, e40},
      {"sigmoid", sigmoid, 40, 1, e40},
      {"softplus", softplus, -40, e40, e40},
      {"softplus", softplus, 40, 40, 1},
      {"softplus", softplus, 1000, 1000, 1},
      {"log_sigmoid", log_sigmoid, 40, -e40, e40},
      {"log_sigmoid", log_sigmoid, -1000, -1000, 1},
      {"silu", silu, -40, -40 * e40, -39 * e40},
      {"silu", silu, 40, 40, 1},
      {"elu", [](const Tensor& x) { return elu(x); }, -40, e40 - 1, e40},
      {"elu", [](const Tensor& x) { return elu(x); }, -1e-20, -1e-20, 1},
      {"elu", [](const Tensor& x) { return elu(x, 0.5); }, -1e-20, -5e-21, 0.5},
      {"elu", [](const Tensor& x) { return elu(x, 0.5); }, 1000, 1000, 1},
      {"selu", selu, -1e-20, -1.7580993408473766e-20, 1.7580993408473766},
      {"selu", selu, 1000, 1050.7009873554805, 1.0507009873554805},
      // For x far below 0, mish x is x e^x (1 - e^x / 2 + ...).
      {"mish", mish, -40, -40 * e40, -39 * e40},
      {"mish", mish, 40, 40, 1},
      {"mish", mish, 1e-20, 6e-21, 0.6},
      {"gelu", gelu, 40, 40, 1},
      // P(-10) = 7.6198530241605260660e-24, p(-10) = 7.6945986267064193464e-23.
      {"gelu", gelu, -10, -7.6198530241605260660e-23, 7.6198530241605260660e-24 - 7.6945986267064193464e-22},
      {"gelu_tanh", gelu_tanh, 40, 40, 1},
  };
  for (const TailCase& c : cases) {
    const std::string what = std::string(c.name) + " at " + std::to_string(c.x);
    expect_relative(c.f(number(c.x)).item(), c.value, 1e-14, what);
    expect_relative(slope(c.f, c.x), c.slope, 1e-13, "slope of " + what);
  }
}

TEST(Activations, SlopesOfExponentialUnitsAtZeroAreThoseFromBelow) {
  EXPECT_EQ(slope([](const Tensor& x) { return elu(x, 0.25); }, 0), 0.25);
  EXPECT_EQ(slope(selu, 0), 1.0507009873554804934 * 1.6732632423543772848);
}

/// One record must give the bits of its parts.
TEST(Activations, SwigluIsSiluOfOneHalfTimesTheOther) {
  for (const Dtype dtype : {f32, f64})
    for (const Shape& shape : {Shape{6}, Shape{3, 10}, Shape{2, 1, 700}, Shape{0, 4}, Shape{2, 0}}) {
      const Tensor values = Random(3).normal(shape, 0, 3, dtype), x = parameter(values), same = parameter(values);
      const std::int64_t half = shape[-1] / 2;
      Tape tape;
      const Tensor y = swiglu(x);
      const Tensors halves = split(same, {half, half}, -1);
      const Tensor composed = silu(halves[0]) * halves[1], dy = Random(4).normal(y.shape(), dtype);
      EXPECT_TRUE(same_bits(y, composed)) << shape;
      tape.backward({y, composed}, {dy, dy});
      EXPECT_TRUE(same_bits(x.grad(), same.grad())) << shape;
    }
}

TEST(Functions, KeepFullPrecisionWhereTheirFormulasCancel) {
  const std::vector<TailCase> cases{
      {"expm1", expm1, 1e-10, 1.00000000005e-10, 1.0000000001},
      {"expm1", expm1, -50, -1, std::exp(-50.0)},
      {"log1p", log1p, 1e-10, 9.9999999995e-11, 1 / 1.0000000001},
      {"erf", erf, 1e-10, 1.1283791670955126e-10, 1.1283791670955126},
      {"erf", erf, 0.5, 0.52049987781304654, 0.87878257893544481},
      {"erf", erf, -3, -0.99997790950300141, 1.3925305194674786e-4},
  };
  for (const TailCase& c : cases) {
    const std::string what = std::string(c.name) + " at " + std::to_string(c.x);
    expect_relative(c.f(number(c.x)).item(), c.value, 1e-15, what);
    expect_relative(slope(c.f, c.x), c.slope, 1e-14, "slope of " + what);
  }
  EXPECT_EQ(log1p(number(-1)).item(), -infinity);
  EXPECT_TRUE(std::isnan(log1p(number(-1.5)).item()));
  EXPECT_EQ(erf(number(infinity)).item(), 1);
  EXPECT_EQ(expm1(number(-infinity)).item(), -1);
}

TEST(Steps, RoundToWholeNumbersAndHaveNoSlope) {
  const std::vector<double> x{-2.5, -1.5, -0.5, -0.2, 0.5, 1.5, 2.5, 2.51};
  const auto of = [&](Unary f, Dtype dtype) {
    const Tensor wide = f(tensor(x, {8}, f64).to(dtype)).to(f64);
    return std::vector<double>(wide.values<double>().begin(), wide.values<double>().end());
  };
  for (const Dtype dtype : {f32, f64, dual}) {
    EXPECT_EQ(of(floor, dtype), (std::vector<double>{-3, -2, -1, -1, 0, 1, 2, 2}));
    EXPECT_EQ(of(ceil, dtype), (std::vector<double>{-2, -1, 0, 0, 1, 2, 3, 3}));
    EXPECT_EQ(of(round, dtype), (std::vector<double>{-2, -2, 0, 0, 0, 2, 2, 3}));
    EXPECT_EQ(of(sign, dtype), (std::vector<double>{-1, -1, -1, -1, 1, 1, 1, 1}));
  }
  EXPECT_EQ(round(number(1e300)).item(), 1e300);
  EXPECT_EQ(sign(number(-0.0)).item(), 0);
  for (const Unary f : {Unary(floor), Unary(ceil), Unary(round), Unary(sign)}) {
    const Tensor at = parameter(number(0.3));
    Tape tape;
    tape.backward({f(at)}, {number(infinity)});
    EXPECT_EQ(at.grad().item(), 0) << "not infinity times 0";
  }
}

TEST(Activations, GeluTanhKeepsItsNegativeTail) {
  const double x = -5;
  const double root = std::sqrt(2 / std::acos(-1.0));
  const double e = std::exp(2 * root * (x + 0.044715 * x * x * x));
  const double s = e / (1 + e);
  expect_relative(gelu_tanh(number(x)).item(), x * s, 1e-13, "value");
  const double want = s + x * s * (1 - s) * 2 * root * (1 + 3 * 0.044715 * x * x);
  expect_relative(slope(gelu_tanh, x), want, 1e-12, "slope");
}

TEST(Kinks, HaveTheStatedGradients) {
  EXPECT_EQ(slope(relu, 0), 0);
  EXPECT_EQ(slope(Unary(abs), 0), 0);
  EXPECT_EQ(slope([](const Tensor& x) { return leaky_relu(x, 0.25); }, 0), 0.25);
  const auto clipped = [](const Tensor& x) { return clip(x, -1, 1); };
  EXPECT_EQ(slope(clipped, 1), 0);
  EXPECT_EQ(slope(clipped, -1), 0);
  EXPECT_EQ(slope(clipped, 0.5), 1);
}

TEST(Pow, EdgesOfTheDomain) {
  const auto to_the = [](double p) { return [p](const Tensor& x) { return pow(x, p); }; };
  EXPECT_EQ(slope(to_the(2), 0), 0);
  EXPECT_EQ(slope(to_the(1), 0), 1);
  EXPECT_EQ(slope(to_the(0), 0), 0);
  EXPECT_EQ(slope(to_the(3), -2), 12);
  EXPECT_TRUE(std::isnan(pow(number(-1), 0.5).item()));
  const Dual seeded(0, 1);
  const Tensor x = tensor(std::span(&seeded, 1), {});
  EXPECT_EQ(pow(x, 0).values<Dual>()[0].tangent, 0);
  EXPECT_EQ(pow(x, 1).values<Dual>()[0].tangent, 1);
  EXPECT_EQ(pow(x, 2).values<Dual>()[0].tangent, 0);
}

/// The tangent of x^p at x = 0, for tangents of x and p.
double tangent_of_pow_at_zero(double p, double of_x, double of_p) {
  const Dual base(0, of_x), exponent(p, of_p);
  return pow(tensor(std::span(&base, 1), {}), tensor(std::span(&exponent, 1), {})).values<Dual>()[0].tangent;
}

/// x^p of two tensors: the limits for x -> 0, and no NaN from ln 0.
TEST(Pow, OfATensorAtZero) {
  struct Expected {
    double p, value, by_base;
  };
  for (const auto& [exponent, value, by_base] :
       {Expected{0, 1, 0}, {0.5, 0, infinity}, {1, 0, 1}, {2, 0, 0}, {3, 0, 0}}) {
    const Tensor x = parameter(number(0)), p = parameter(number(exponent));
    Tape tape;
    const Tensor y = pow(x, p);
    tape.backward(y);
    EXPECT_EQ(y.item(), value) << exponent;
    EXPECT_EQ(x.grad().item(), by_base) << exponent;
    EXPECT_EQ(tangent_of_pow_at_zero(exponent, 1, 0), by_base) << exponent;
    if (exponent == 0) continue;  // where 0^p jumps from 1 to 0
    EXPECT_EQ(p.grad().item(), 0) << exponent;
    EXPECT_EQ(tangent_of_pow_at_zero(exponent, 0, 1), 0) << exponent;
  }
}

/// d x^p / dp = x^p ln x, also at p = 0, where x^p = 1 for every x.
TEST(Pow, OfAnExponentOfZeroHasASlopeInTheExponent) {
  const Dual base(2, 0), exponent(0, 1);
  const Tensor y = pow(tensor(std::span(&base, 1), {}), tensor(std::span(&exponent, 1), {}));
  EXPECT_EQ(y.values<Dual>()[0].value, 1);
  EXPECT_DOUBLE_EQ(y.values<Dual>()[0].tangent, std::numbers::ln2);
}

TEST(Log, EdgesOfTheDomain) {
  EXPECT_EQ(log(number(0)).item(), -infinity);
  EXPECT_TRUE(std::isnan(log(number(-1)).item()));
}

TEST(Clip, AnEmptyRangeIsAnError) {
  expect_error<ValueError>([] { clip(ones({2}), 1, 0); },
                           "clip: x[2] to the range from 1 to 0, which is empty; give low <= high");
  EXPECT_EQ(clip(number(infinity), 0, 1).item(), 1);
}

TEST(To, IsDifferentiableBetweenRealTypes) {
  for (const Dtype dtype : {f32, f64, dual}) {
    const Tensor x = parameter(tensor({1.5, -2}, f64));
    Tape tape;
    const Tensor y = x.to(dtype);
    tape.backward({y}, {full({2}, 3, dtype)});
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(y.at({1}), -2);
    if (dtype == f64) continue;  // y is x itself
    EXPECT_EQ(x.grad().dtype(), f64);
    EXPECT_EQ(x.grad().at({0}), 3);
  }
}

TEST(To, TruncatesToIntegers) {
  const Tensor y = tensor({1.9, -1.9, 0.5}, f64).to(i64);
  EXPECT_EQ(y.at({0}), 1);
  EXPECT_EQ(y.at({1}), -1);
  EXPECT_EQ(y.at({2}), 0);
  EXPECT_FALSE(to(parameter(ones({2})), i64).wants_gradient());
  EXPECT_THROW(tensor({nan}, f64).to(i64), ValueError);
  EXPECT_THROW(tensor({1e19}, f64).to(i64), ValueError);
}

TEST(Where, TakesNothingFromTheOtherSide) {
  const Tensor a = parameter(number(nan)), b = parameter(number(2));
  Tape tape;
  const Tensor y = where(indices({0, 0}), a, b);
  tape.backward({y}, {ones({2}, f64)});
  EXPECT_EQ(y.at({0}), 2);
  EXPECT_EQ(a.grad().item(), 0);
  EXPECT_EQ(b.grad().item(), 2);
}

TEST(Where, RefusesARealCondition) {
  expect_error<DtypeError>([] { where(ones({2}), ones({2}), ones({2})); },
                           "where: condition[2] is f32, but a condition is i64, 0 or not; convert it with to(i64)");
}

TEST(MaskedFill, HidesValuesAndGradients) {
  const Tensor x = parameter(tensor({{1, nan, 3}, {4, 5, 6}}, f64));
  Tape tape;
  const Tensor y = masked_fill(x, indices({0, 1, 0}), -infinity);
  tape.backward({y + x}, {full({2, 3}, 2, f64)});
  EXPECT_EQ(y.at({0, 1}), -infinity);
  EXPECT_EQ(y.at({1, 2}), 6);
  EXPECT_EQ(x.grad().at({0, 0}), 4);
  EXPECT_EQ(x.grad().at({1, 1}), 2);
}

TEST(MaskedFill, RefusesAMaskThatIsLargerThanX) {
  EXPECT_THROW(masked_fill(ones({3}), indices({{0, 1, 0}, {1, 0, 0}}), 0), ShapeError);
}

TEST(Dropout, KeepsTheMeanAndPassesGradientsThroughTheSameMask) {
  Random random(1);
  const Tensor x = parameter(ones({100, 100}));
  Tape tape;
  const Tensor y = dropout(x, 0.25, &random);
  tape.backward({y}, {ones({100, 100})});
  double sum = 0;
  for (const float value : y.values<float>()) {
    EXPECT_TRUE(value == 0 || value == 1 / 0.75f);
    sum += double{value};
  }
  EXPECT_NEAR(sum / 10000, 1, 0.03);
  const Tensor gradient = x.grad();
  EXPECT_TRUE(std::equal(y.values<float>().begin(), y.values<float>().end(), gradient.values<float>().begin()));
}

TEST(Dropout, EdgesOfTheProbability) {
  Random random(1);
  EXPECT_EQ(dropout(ones({3}), 0, &random).at({1}), 1);
  EXPECT_EQ(dropout(ones({3}), 1, &random).at({1}), 0);
  EXPECT_EQ(dropout(ones({3}), 0.5, nullptr).at({1}), 1);
  expect_error<ValueError>([&] { dropout(ones({3}), 1.5, &random); },
                           "dropout: x[3] with probability 1.5; it must lie from 0 to 1");
}

}  // namespace
}  // namespace retrace
