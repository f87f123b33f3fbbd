// layer_norm and rms_norm: against plain loops, with large offsets, at edge values, and row by row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

bool has_nan(const Tensor& x) {
  const Tensor wide = x.to(f64);
  return std::ranges::any_of(wide.values<double>(), [](double element) { return std::isnan(element); });
}

/// (x - mean) / sqrt(var + eps), or without a mean x / sqrt(mean x^2 + eps).
std::vector<double> plain_normal(const std::vector<double>& x, bool subtract_mean, double eps) {
  const double count = static_cast<double>(x.size());
  double mean = 0, square = 0;
  for (const double number : x) mean += subtract_mean ? number / count : 0;
  for (const double number : x) square += (number - mean) * (number - mean) / count;
  std::vector<double> y;
  for (const double number : x) y.push_back((number - mean) / std::sqrt(square + eps));
  return y;
}

struct NormGradients {
  Tensor y, x, gamma, beta;
};

NormGradients layer_norm_gradients(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& dy) {
  const Tensor of_x = parameter(x), of_gamma = parameter(gamma), of_beta = parameter(beta);
  Tape tape;
  const Tensor y = layer_norm(of_x, of_gamma, of_beta);
  tape.backward({y}, {dy});
  return {y, of_x.grad(), of_gamma.grad(), of_beta.grad()};
}

NormGradients rms_norm_gradients(const Tensor& x, const Tensor& gamma, const Tensor& dy) {
  const Tensor of_x = parameter(x), of_gamma = parameter(gamma);
  Tape tape;
  const Tensor y = rms_norm(of_x, of_gamma);
  tape.backward({y}, {dy});
  return {y, of_x.grad(), of_gamma.grad(), {}};
}

TEST(LayerNorm, IsItsFormula) {
  Random random(1);
  const Tensor x = random.normal({3, 5}, 2, 3, f64), gamma = random.normal({5}, f64), beta = random.normal({5}, f64);
  const Tensor plain = layer_norm(x), scaled = layer_norm(x, gamma), moved = layer_norm(x, {}, beta);
  const Tensor both = layer_norm(x, gamma, beta), rough = layer_norm(x, {}, {}, {.eps = 0.5});
  for (std::int64_t row = 0; row < 3; ++row) {
    const std::vector<double> line(x[row].values<double>().begin(), x[row].values<double>().end());
    const std::vector<double> want = plain_normal(line, true, 1e-5), want_rough = plain_normal(line, true, 0.5);
    for (std::int64_t k = 0; k < 5; ++k) {
      const double normal = want[static_cast<std::size_t>(k)];
      EXPECT_NEAR(plain.at({row, k}), normal, 1e-14);
      EXPECT_NEAR(scaled.at({row, k}), normal * gamma.at({k}), 1e-14);
      EXPECT_NEAR(moved.at({row, k}), normal + beta.at({k}), 1e-14);
      EXPECT_NEAR(both.at({row, k}), normal * gamma.at({k}) + beta.at({k}), 1e-14);
      EXPECT_NEAR(rough.at({row, k}), want_rough[static_cast<std::size_t>(k)], 1e-14);
    }
  }
}

TEST(LayerNorm, OfASumIsThatOfItsTwin) {
  Random random(12);
  const Shape shape{3, 2, 33};
  const Tensor x = random.normal(shape, f64), residual = random.normal(shape, f64), dy = random.normal(shape, f64);
  const Tensor gamma = random.normal({33}, f64), beta = random.normal({33}, f64);
  const auto results = [&](TapeOptions options) {
    const Tensors in{parameter(x.clone()), parameter(residual.clone()), parameter(gamma.clone()),
                     parameter(beta.clone())};
    Tape tape(options);
    const Tensor y = residual_layer_norm(in[0], in[1], in[2], in[3]);
    EXPECT_EQ(tape.find("residual_layer_norm") == nullptr, options.expand_fused);
    tape.backward({y}, {dy});
    return Tensors{y.detach(), in[0].grad(), in[1].grad(), in[2].grad(), in[3].grad()};
  };
  const Tensors fused = results({}), composed = results({.expand_fused = true});
  for (std::size_t k = 0; k < fused.size(); ++k) EXPECT_TRUE(same_bits(fused[k], composed[k])) << k;
}

/// Two inputs that get the same gradient must not share a buffer, because either may add to it.
TEST(LayerNorm, TheGradientOfASumIsAddedToEachTermAlone) {
  Random random(13);
  const Tensor x = random.normal({2, 5}, f64), residual = random.normal({2, 5}, f64), dy = random.normal({2, 5}, f64);
  const auto gradients = [&](bool with_square) {
    const Tensor a = parameter(x.clone()), b = parameter(residual.clone());
    Tape tape;
    Tensor y = residual_layer_norm(a, b);
    if (with_square) y = y + square(a);
    tape.backward({y}, {dy});
    return Tensors{a.grad(), b.grad()};
  };
  const Tensors alone = gradients(false), both = gradients(true);
  EXPECT_TRUE(same_bits(alone[0], alone[1]));
  EXPECT_TRUE(same_bits(both[1], alone[1]));
  const Tensor expected = alone[0] + 2 * x * dy;
  for (std::int64_t k = 0; k < 10; ++k) EXPECT_NEAR(both[0].at({k / 5, k % 5}), expected.at({k / 5, k % 5}), 1e-14);
}

TEST(LayerNorm, SeveralAxesAreNormalisedTogether) {
  Random random(2);
  const Tensor x = random.normal({2, 3, 4}, f64), gamma = random.normal({3, 4}, f64), beta = random.normal({3, 4}, f64);
  const Tensor flat = layer_norm(reshape(x, {2, 12}), reshape(gamma, {12}), reshape(beta, {12}));
  EXPECT_TRUE(same_bits(layer_norm(x, gamma, beta, {.axes = 2}), reshape(flat, {2, 3, 4})));
  EXPECT_TRUE(same_bits(layer_norm(x, {}, {}, {.axes = 3}), reshape(layer_norm(reshape(x, {24})), {2, 3, 4})));
}

TEST(RmsNorm, IsItsFormula) {
  Random random(3);
  const Tensor x = random.normal({3, 5}, 2, 3, f64), gamma = random.normal({5}, f64);
  const Tensor plain = rms_norm(x), scaled = rms_norm(x, gamma), rough = rms_norm(x, {}, 0.5);
  for (std::int64_t row = 0; row < 3; ++row) {
    const std::vector<double> line(x[row].values<double>().begin(), x[row].values<double>().end());
    const std::vector<double> want = plain_normal(line, false, 1e-6), want_rough = plain_normal(line, false, 0.5);
    for (std::int64_t k = 0; k < 5; ++k) {
      EXPECT_NEAR(plain.at({row, k}), want[static_cast<std::size_t>(k)], 1e-14);
      EXPECT_NEAR(scaled.at({row, k}), want[static_cast<std::size_t>(k)] * gamma.at({k}), 1e-14);
      EXPECT_NEAR(rough.at({row, k}), want_rough[static_cast<std::size_t>(k)], 1e-14);
    }
  }
}

/// If gamma and beta allow it, the gradient is computed from y, and no other copy of the row is saved.
TEST(LayerNorm, GradientsFromYAreThoseFromX) {
  Random random(14);
  const Tensor x = random.normal({5, 40}, f64), residual = random.normal({5, 40}, f64);
  // Without dy of column 0, whose gamma or beta are changed below, these change no other gradient.
  const Tensor dy = random.normal({5, 40}, f64) * concat({zeros({1}, f64), ones({39}, f64)}, 0);
  const Tensor gamma = random.uniform({40}, 0.5, 2, f64), beta = random.uniform({40}, -2, 2, f64);
  struct Found {
    Tensors gradients;
    bool from_y;
  };
  const auto gradients = [&](Dtype dtype, const Tensor& scale, const Tensor& offset) {
    const auto leaf = [&](const Tensor& values) { return parameter(values.to(dtype).clone()); };
    const Tensors in{leaf(x), leaf(residual), leaf(scale), leaf(offset)};
    Tape tape;
    const Tensor y = residual_layer_norm(in[0], in[1], in[2], in[3]);
    const bool from_y = !tape.find("residual_layer_norm")->saved(1);
    tape.backward({y}, {dy.to(dtype)});
    return Found{{in[0].grad(), in[1].grad(), in[2].grad(), in[3].grad()}, from_y};
  };
  const auto with_first = [](const Tensor& values, double first) {
    Tensor changed = values.clone();
    changed.mutable_values<double>()[0] = first;
    return changed;
  };
  const Found usual = gradients(f64, gamma, beta), rounded = gradients(f32, gamma, beta);
  EXPECT_TRUE(usual.from_y && rounded.from_y);
  for (const Found& other : {gradients(f64, with_first(gamma, 0), beta), gradients(f64, with_first(gamma, 1e9), beta),
                             gradients(f64, gamma, with_first(beta, 20))}) {
    EXPECT_FALSE(other.from_y);
    for (std::size_t k = 0; k < 4; ++k) expect_near(other.gradients[k], usual.gradients[k], 1e-13);
  }
  EXPECT_FALSE(gradients(f64, with_first(gamma, nan), beta).from_y);
  for (std::size_t k = 0; k < 4; ++k) expect_near(rounded.gradients[k], usual.gradients[k], 2e-5);
}

/// With a one-pass variance, or means summed in f32, only two digits would be correct here.
TEST(LayerNorm, OfNumbersNearTenThousandKeepsTheDigitsOfF32) {
  Random random(4);
  const Tensor x = random.normal({4, 512}, 1e4, 1, f32), gamma = random.normal({512}, f32);
  const Tensor beta = random.normal({512}, f32), dy = random.normal({4, 512}, f32);
  const NormGradients got = layer_norm_gradients(x, gamma, beta, dy);
  const NormGradients want = layer_norm_gradients(x.to(f64), gamma.to(f64), beta.to(f64), dy.to(f64));
  const double rounding_of_the_mean = 1e4 * 6e-8;  // half a unit in the last place of 1e4
  expect_near(got.y, want.y, 4 * rounding_of_the_mean);
  expect_near(got.x, want.x, 4 * rounding_of_the_mean);
  expect_near(got.gamma, want.gamma, 8 * rounding_of_the_mean);
  expect_near(got.beta, want.beta, 1e-5);
}

TEST(LayerNorm, OfEqualNumbersIsBeta) {
  const Tensor x = full({2, 3}, 1e4, f32), beta = tensor({1.0, -2.0, 0.5}, f32), gamma = tensor({3.0, 4.0, 5.0}, f32);
  const Tensor y = layer_norm(x, gamma, beta);
  EXPECT_TRUE(same_bits(y[0], beta));
  EXPECT_TRUE(same_bits(y[1], beta));
  EXPECT_TRUE(same_bits(layer_norm(tensor({{7.0}}, f32)), zeros({1, 1}, f32)));
  EXPECT_TRUE(same_bits(rms_norm(zeros({2, 3}, f32), gamma), zeros({2, 3}, f32)));
}

/// An error of one unit in the last place of the mean would show: 49 (1 / 49) is not 1.
TEST(LayerNorm, OfEqualNumbersIsZeroForEveryLength) {
  for (std::int64_t length = 1; length < 130; ++length)
    EXPECT_TRUE(same_bits(layer_norm(full({1, length}, 1e6, f64)), zeros({1, length}, f64))) << length;
}

/// y does not depend on an offset of the row, nor (for eps = 0) on its scale, so dx is orthogonal to both.
TEST(LayerNorm, ItsGradientIsOrthogonalToOnesAndToTheRow) {
  Random random(5);
  const Tensor x = parameter(random.normal({3, 16}, 3, 2, f64)), dy = random.normal({3, 16}, f64);
  Tape tape;
  tape.backward({layer_norm(x, {}, {}, {.eps = 0})}, {dy});
  expect_near(sum(x.grad(), 1), zeros({3}, f64), 1e-13);
  expect_near(sum(x.grad() * x.detach(), 1), zeros({3}, f64), 1e-13);
}

TEST(Normalisation, NanInIsNanOutInItsOwnRow) {
  const Tensor x = tensor({{1, 2, 4}, {1, nan, 4}, {1, 2, 4}}, f64), ones_of_3 = ones({3}, f64);
  for (const Tensor& y : {layer_norm(x), layer_norm(x, ones_of_3, ones_of_3), rms_norm(x), rms_norm(x, ones_of_3)}) {
    for (std::int64_t k = 0; k < 3; ++k) EXPECT_TRUE(std::isnan(y.at({1, k})));
    EXPECT_FALSE(has_nan(y[0]));
    EXPECT_TRUE(same_bits(y[0], y[2]));
  }
}

TEST(Normalisation, OfNothing) {
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{0, 0}}) {
    const Tensor x = zeros(shape, f64), gamma = ones({shape[1]}, f64);
    const NormGradients layer = layer_norm_gradients(x, gamma, gamma, x), rms = rms_norm_gradients(x, gamma, x);
    for (const Tensor& part : {layer.y, layer.x, rms.y, rms.x}) EXPECT_EQ(part.shape(), shape);
    for (const Tensor& part : {layer.gamma, layer.beta, rms.gamma})
      EXPECT_TRUE(same_bits(part, zeros({shape[1]}, f64)));
  }
}

TEST(Normalisation, ARowOfABatchIsThatRowAloneAndThreadsChangeNothing) {
  Random random(6);
  for (const std::int64_t width : {5, 64, 515}) {
    const Tensor x = random.normal({300, width}, 1, 2, f32), dy = random.normal({300, width}, f32);
    const Tensor gamma = random.normal({width}, f32), beta = random.normal({width}, f32);
    const ThreadsScope on_one(1);
    const NormGradients layer = layer_norm_gradients(x, gamma, beta, dy), rms = rms_norm_gradients(x, gamma, dy);
    for (const std::int64_t row : {0, 111, 299}) {
      const NormGradients alone = layer_norm_gradients(x[row], gamma, beta, dy[row]);
      EXPECT_TRUE(same_bits(alone.y, layer.y[row]) && same_bits(alone.x, layer.x[row]));
      const NormGradients alone_rms = rms_norm_gradients(x[row], gamma, dy[row]);
      EXPECT_TRUE(same_bits(alone_rms.y, rms.y[row]) && same_bits(alone_rms.x, rms.x[row]));
    }
    const ThreadsScope on_two(2);
    const NormGradients layer_of_two = layer_norm_gradients(x, gamma, beta, dy);
    const NormGradients rms_of_two = rms_norm_gradients(x, gamma, dy);
    EXPECT_TRUE(same_bits(layer_of_two.y, layer.y) && same_bits(layer_of_two.x, layer.x));
    EXPECT_TRUE(same_bits(layer_of_two.gamma, layer.gamma) && same_bits(layer_of_two.beta, layer.beta));
    EXPECT_TRUE(same_bits(rms_of_two.y, rms.y) && same_bits(rms_of_two.x, rms.x));
    EXPECT_TRUE(same_bits(rms_of_two.gamma, rms.gamma));
  }
}

}  // namespace
}  // namespace retrace
