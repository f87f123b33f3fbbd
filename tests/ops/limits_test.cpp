// Values at the ends of the number line: infinities, where a formula is a limit, and numbers whose squares overflow or
// underflow.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

using Unary = Tensor (*)(const Tensor&);

struct AtInfinity {
  std::string name;
  std::function<Tensor(const Tensor&)> f;
  double low, slope_low, high, slope_high;  // at -infinity and at infinity
};

std::vector<AtInfinity> activations() {
  const double selu_factor = 1.0507009873554805, selu_low = -1.7580993408473766;
  return {{"sigmoid", Unary(sigmoid), 0, 0, 1, 0},
          {"tanh", Unary(tanh), -1, 0, 1, 0},
          {"relu", Unary(relu), 0, 0, infinite, 1},
          {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }, -infinite, 0.01, infinite, 1},
          {"elu", [](const Tensor& x) { return elu(x, 1.5); }, -1.5, 0, infinite, 1},
          {"selu", Unary(selu), selu_low, 0, infinite, selu_factor},
          {"gelu", Unary(gelu), 0, 0, infinite, 1},
          {"gelu_tanh", Unary(gelu_tanh), 0, 0, infinite, 1},
          {"silu", Unary(silu), 0, 0, infinite, 1},
          {"swiglu",
           [](const Tensor& x) {
             return swiglu(concat({x, ones_like(x)}, -1));
           },
           0, 0, infinite, 1},
          {"mish", Unary(mish), 0, 0, infinite, 1},
          {"softplus", Unary(softplus), 0, 0, infinite, 1},
          {"log_sigmoid", Unary(log_sigmoid), -infinite, 1, 0, 0},
          {"erf", Unary(erf), -1, 0, 1, 0},
          {"exp", Unary(exp), 0, 0, infinite, infinite},
          {"expm1", Unary(expm1), -1, 0, infinite, infinite}};
}

/// At every length of a vector's tail, so that kernels and what is left over both see them.
TEST(Limits, OfActivationsAtInfinities) {
  for (const AtInfinity& one : activations())
    for (const Dtype dtype : {f32, f64, dual})
      for (const std::int64_t count : {1, 7, 40})
        for (const bool high : {false, true}) {
          const Tensor x = parameter(full({count, 1}, high ? infinite : -infinite, dtype));
          Tape tape;
          const Tensor y = one.f(x);
          tape.backward({y}, {ones_like(y)});
          const double eps = dtype == f32 ? 1e-6 : 1e-15, want = high ? one.high : one.low;
          const double slope = high ? one.slope_high : one.slope_low;
          for (std::int64_t k = 0; k < count; ++k) {
            const auto what = [&] {
              return text(one.name, " at ", high ? "" : "-", "infinity, ", dtype, ", element ", k);
            };
            const double got = y.at({k, 0}), got_slope = x.grad().at({k, 0});
            EXPECT_TRUE(got == want || std::abs(got - want) <= eps) << what() << " is " << got;
            EXPECT_TRUE(got_slope == slope || std::abs(got_slope - slope) <= eps)
                << what() << " has slope " << got_slope;
          }
        }
}

TEST(Limits, OfDualNumbersAtInfinitiesHaveTheSlopeAsTangent) {
  for (const AtInfinity& one : activations())
    for (const bool high : {false, true}) {
      if (one.name == "swiglu") continue;  // a product, whose other factor has a tangent of its own
      const Dual seeded(high ? infinite : -infinite, 1);
      const Tensor y = one.f(tensor(std::span(&seeded, 1), {1, 1}));
      const double slope = high ? one.slope_high : one.slope_low, tangent = y.values<Dual>()[0].tangent;
      EXPECT_TRUE(tangent == slope || std::abs(tangent - slope) < 1e-15)
          << one.name << " at " << seeded.value << ": " << tangent;
    }
}

/// In a layer, where kernels take the activation's place.
TEST(Limits, OfLinearWithAnActivationAtInfinities) {
  const std::pair<Activation, AtInfinity> cases[] = {
      {Activation::gelu, {"gelu", Unary(gelu), 0, 0, infinite, 1}},
      {Activation::gelu_tanh, {"gelu_tanh", Unary(gelu_tanh), 0, 0, infinite, 1}},
      {Activation::sigmoid, {"sigmoid", Unary(sigmoid), 0, 0, 1, 0}},
      {Activation::tanh, {"tanh", Unary(tanh), -1, 0, 1, 0}}};
  for (const auto& [activation, one] : cases)
    for (const Dtype dtype : {f32, f64}) {
      const Tensor x = parameter(tensor({{-infinite}, {infinite}}, dtype));
      Tape tape;
      const Tensor y = linear(x, ones({1, 1}, dtype), {}, activation);
      tape.backward({y}, {ones_like(y)});
      EXPECT_EQ(list(y), (std::vector<double>{one.low, one.high})) << one.name;
      EXPECT_EQ(list(x.grad()), (std::vector<double>{one.slope_low, one.slope_high})) << one.name;
    }
}

TEST(Limits, OfBceWithInfiniteLogits) {
  for (const Dtype dtype : {f32, f64, dual}) {
    const Tensor x = parameter(tensor({infinite, -infinite, infinite, -infinite, infinite}, dtype));
    const Tensor t = tensor({1.0, 0.0, 0.0, 1.0, 0.5}, dtype);
    Tape tape;
    const Tensor loss = bce_with_logits(x, t, Reduction::none);
    EXPECT_EQ(list(loss), (std::vector<double>{0, 0, infinite, infinite, infinite})) << dtype;
    tape.backward({loss}, {ones_like(loss)});
    EXPECT_EQ(list(x.grad()), (std::vector<double>{0, 0, 1, -1, 0.5})) << dtype;
  }
}

/// f(s x) for scales s at which squares overflow or underflow, beside what f(x) says of it.
struct Scaled {
  std::string name;
  std::function<Tensor(const Tensor&)> f;
  int degree;                                        // f(s x) = s^degree f(x)
  std::function<Tensor(const Tensor&)> of_one = {};  // f without its eps, for large s only
};

std::vector<Scaled> sums_of_squares() {
  using X = const Tensor&;
  return {{"norm", [](X x) { return norm(x, -1); }, 1},
          {"std", [](X x) { return retrace::std(x, -1); }, 1},
          {"std, unbiased", [](X x) { return standard_deviation(x, -1, {}, 1); }, 1},
          {"rms_norm", [](X x) { return rms_norm(x, {}, 0); }, 0},
          {"rms_norm with eps", [](X x) { return rms_norm(x); }, 0, [](X x) { return rms_norm(x, {}, 0); }},
          {"rms_norm with gamma", [](X x) { return rms_norm(x, full({5}, 0.5, x.dtype()), 0); }, 0},
          {"layer_norm", [](X x) { return layer_norm(x, {}, {}, {.eps = 0}); }, 0},
          {"layer_norm with eps", [](X x) { return layer_norm(x); }, 0,
           [](X x) { return layer_norm(x, {}, {}, {.eps = 0}); }},
          {"layer_norm with gamma and beta",
           [](X x) { return layer_norm(x, full({5}, 0.5, x.dtype()), full({5}, 0.25, x.dtype()), {.eps = 0}); }, 0},
          {"layer_norm with a tiny gamma",
           [](X x) { return layer_norm(x, full({5}, 1e-9, x.dtype()), {}, {.eps = 0}); }, 0},
          {"residual_layer_norm", [](X x) { return residual_layer_norm(x, x * 0.5, {}, {}, {.eps = 0}); }, 0}};
}

TEST(Limits, OfSumsOfSquaresAreThoseOfTheResult) {
  struct Range {
    Dtype dtype;
    std::vector<double> scales;
  };
  for (const auto& [dtype, scales] : {Range{f32, {1e18, 1e20, 1e30, 5e37, 1e-18, 1e-20, 1e-30, 1e-36}},
                                      Range{f64, {1e150, 1e154, 1e200, 5e307, 1e-150, 1e-162, 1e-200, 1e-300}},
                                      Range{dual, {1e154, 5e307, 1e-162, 1e-300}}})
    for (const Scaled& one : sums_of_squares())
      for (const double scale : scales) {
        if (scale < 1 && one.of_one) continue;
        const Tensor values = tensor({{0.3, -0.8, 0.4, 1.1, -0.2}, {0.5, 0.6, -1.3, 0.9, 0.1}}, dtype);
        const auto run = [&](double factor) {
          const Tensor x = parameter(values * factor);
          Tape tape;
          const Tensor y = factor == 1 && one.of_one ? one.of_one(x) : one.f(x);
          tape.backward({y}, {Random(3).normal(y.shape(), f64).to(y.dtype())});
          return std::pair(y.detach().to(f64), x.grad().to(f64));
        };
        const auto [y, dx] = run(scale);
        const auto [want, want_dx] = run(1);
        const std::string what = text(one.name, " at ", scale, ", ", dtype);
        const double limit = dtype == f32 ? 3e-6 : 1e-14;
        const auto unscaled = [&](const Tensor& x, int degree) {
          return degree == 0 ? x : degree == 1 ? x / scale : x * scale;
        };
        expect_near(unscaled(y, one.degree), want, limit, what);
        if (std::abs(std::log10(scale)) > (dtype == f32 ? 36 : 306) && one.degree == 0)
          continue;  // dx is no normal number
        expect_near(unscaled(dx, one.degree - 1), want_dx, 4 * limit, what + ", gradient");
      }
}

TEST(Limits, OfVariancesThatAreFinite) {
  const Tensor x = parameter(tensor({1.2e154, -1.2e154, 1.2e154, -1.2e154}, f64));
  Tape tape;
  const Tensor y = var(x);
  EXPECT_DOUBLE_EQ(y.item(), 1.44e308);
  tape.backward(y);
  EXPECT_DOUBLE_EQ(x.grad().at({0}), 6e153);
  EXPECT_EQ(retrace::std(full({3}, 1.7e308, f64)).item(), 0);
  EXPECT_EQ(norm(tensor({infinite, 1}, f64)).item(), infinite);
  EXPECT_TRUE(std::isnan(norm(tensor({nan, 1e200}, f64)).item()));
  EXPECT_EQ(norm(zeros({3}, f64)).item(), 0);
}

TEST(Limits, OfAMeanOfSquaresOfFloats) {
  const Tensor x = parameter(zeros({100}, f32));
  x.mutable_values<float>()[0] = 2.5e19F;
  Tape tape;
  const Tensor loss = mse(x, zeros({100}, f32));
  EXPECT_NEAR(loss.item() / 6.25e36, 1, 1e-6);
  tape.backward(loss);
  EXPECT_NEAR(x.grad().at({0}) / 5e17, 1, 1e-6);
}

}  // namespace
}  // namespace retrace
