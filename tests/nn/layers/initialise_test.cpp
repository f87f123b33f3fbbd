// Initial weights: bounds, variances, orthogonality, seeds, and the weights of the modules.
#include <retrace/nn/layers/initialise.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include <retrace/core/base/parallel.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

struct Moments {
  double mean = 0, variance = 0, largest = 0;
};

Moments moments_of(const Tensor& x) {
  const Tensor values = x.to(f64);
  Moments result{mean(values).item(), var(values).item(), 0};
  for (const double value : values.values<double>()) result.largest = std::max(result.largest, std::abs(value));
  return result;
}

/// Expects mean and variance within five standard errors, for numbers with at most the fourth moment of a normal.
void expect_moments(const Tensor& x, double variance) {
  const double count = static_cast<double>(x.numel());
  EXPECT_NEAR(moments_of(x).mean, 0, 5 * std::sqrt(variance / count));
  EXPECT_NEAR(moments_of(x).variance, variance, 5 * variance * std::sqrt(2 / count));
}

/// The largest difference between m m^T and the identity times `squared_length`.
double distance_from_orthogonal(const Tensor& m, double squared_length = 1) {
  const Tensor rows = m.to(f64);
  const Tensor products = matmul(rows, rows, {.transpose_b = true});
  return max(abs(products - eye(m.dim(0), -1, f64) * squared_length)).item();
}

TEST(Initialise, GlorotUniformFillsItsBounds) {
  for (const Shape& shape : {Shape{100, 400}, Shape{400, 100}, Shape{1, 40000}}) {
    Random random(1);
    const Tensor w = glorot_uniform(shape, random);
    const double limit = std::sqrt(6.0 / static_cast<double>(shape[0] + shape[1]));
    EXPECT_LE(moments_of(w).largest, static_cast<double>(static_cast<float>(limit)));
    EXPECT_GE(moments_of(w).largest, 0.999 * limit);
    expect_moments(w, limit * limit / 3);
  }
}

TEST(Initialise, GlorotNormalHasItsVariance) {
  Random random(2);
  const Tensor w = glorot_normal({100, 400}, random);
  expect_moments(w, 2.0 / 500);
  EXPECT_GT(moments_of(w).largest, 3.5 * std::sqrt(2.0 / 500)) << "normal numbers have tails";
}

TEST(Initialise, GlorotIsForMatrices) {
  Random random(3);
  const char* rest = "is not [fan_out, fan_in]; initialise matrices, and reshape after";
  expect_error<ShapeError>([&] { glorot_uniform({3}, random); }, text("glorot_uniform: [3] ", rest));
  expect_error<ShapeError>([&] { glorot_normal({2, 3, 4}, random); }, text("glorot_normal: [2, 3, 4] ", rest));
}

TEST(Initialise, OrthogonalRowsOrColumns) {
  for (const Dtype dtype : {f32, f64}) {
    const DtypeScope scope(dtype);
    const double bound = dtype == f32 ? 1e-6 : 1e-12;
    Random random(4);
    for (const Shape& shape : {Shape{40, 40}, Shape{12, 50}, Shape{50, 12}, Shape{1, 1}, Shape{1, 9}, Shape{9, 1}}) {
      const Tensor w = orthogonal(shape[0], shape[1], random);
      ASSERT_EQ(w.shape(), shape);
      ASSERT_EQ(w.dtype(), dtype);
      const bool tall = shape[0] > shape[1];
      EXPECT_LT(distance_from_orthogonal(tall ? transpose(w) : w), bound) << to_text(shape);
    }
    EXPECT_LT(distance_from_orthogonal(orthogonal(7, 9, random, 3), 9), 9 * bound) << "gain 3";
    EXPECT_EQ(orthogonal(0, 4, random).shape(), (Shape{0, 4}));
  }
}

/// Directions are uniform: no element has a preferred sign or size.
/// The Gram-Schmidt process, row by row.
Tensor orthogonal_row_by_row(std::int64_t rows, std::int64_t columns, Random& random) {
  const Tensor result = random.normal({rows, columns}, f64);
  const auto row = [&](std::int64_t n) {
    return result.mutable_values<double>().subspan(static_cast<std::size_t>(n * columns),
                                                   static_cast<std::size_t>(columns));
  };
  const auto dot = [&](std::int64_t n, std::int64_t m) {
    double sum = 0;
    for (std::size_t k = 0; k < row(n).size(); ++k) sum += row(n)[k] * row(m)[k];
    return sum;
  };
  for (std::int64_t n = 0; n < rows; ++n) {
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t m = 0; m < n; ++m) {
        const double along = dot(n, m);
        for (std::size_t k = 0; k < row(n).size(); ++k) row(n)[k] -= along * row(m)[k];
      }
    const double length = std::sqrt(dot(n, n));
    for (double& element : row(n)) element /= length;
  }
  return result;
}

/// Around the sizes of a block and of several, the last of which may have few rows.
TEST(Initialise, OrthogonalByBlocksIsTheSameMatrix) {
  const DtypeScope scope(f64);
  for (const Shape& shape : {Shape{128, 128}, Shape{129, 129}, Shape{144, 144}, Shape{145, 150}, Shape{200, 300}}) {
    Random one(4), other(4);
    const Tensor w = orthogonal(shape[0], shape[1], one);
    const Tensor expected = orthogonal_row_by_row(shape[0], shape[1], other);
    EXPECT_LE(max(abs(w - expected)).item(), shape[0] <= 128 ? 0 : 1e-11) << to_text(shape);
    EXPECT_LT(distance_from_orthogonal(w), 1e-14) << to_text(shape);
    EXPECT_EQ(one.normal(), other.normal()) << "as many numbers are drawn";
    if (shape[0] == shape[1]) continue;
    Random tall(4);
    EXPECT_EQ(max(abs(transpose(orthogonal(shape[1], shape[0], tall)) - w)).item(), 0) << to_text(shape);
  }
}

TEST(Initialise, OrthogonalMatricesDoNotDependOnThreads) {
  const auto drawn = [](int threads) {
    const ThreadsScope scope(threads);
    Random random(5);
    return weights_hash({{"w", orthogonal(300, 310, random)}});
  };
  const std::string one = drawn(1);
  for (const int threads : {2, 3, 5}) EXPECT_EQ(drawn(threads), one) << threads;
}

TEST(Initialise, NothingIsDrawnForWeightsThatAreLoaded) {
  Random none = Random::none();
  for (const Tensor& w : {orthogonal(300, 300, none), truncated_normal({3, 4}, 1, none), glorot_uniform({3, 4}, none)})
    EXPECT_EQ(max(abs(w)).item(), 0);
  Random few = Random::none(100);
  EXPECT_THROW(Lstm(4, 1 << 14, few), ValueError);
}

TEST(Initialise, OrthogonalMatricesAreNotBiased) {
  Random random(5);
  Tensors firsts;
  for (int k = 0; k < 2000; ++k) firsts.push_back(orthogonal(3, 3, random));
  const Tensor drawn = stack(firsts);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j) expect_moments(slice(drawn, {all, i, j}), 1.0 / 3);
}

TEST(Initialise, TruncatedNormalStaysWithinTwoDeviations) {
  constexpr double deviation = 0.3;
  Random random(6);
  const Tensor w = truncated_normal({200, 300}, deviation, random);
  EXPECT_LE(moments_of(w).largest, static_cast<double>(static_cast<float>(2 * deviation)));
  EXPECT_GE(moments_of(w).largest, 1.99 * deviation);
  const double density = std::exp(-2.0) / std::sqrt(2 * std::numbers::pi), inside = std::erf(2 / std::sqrt(2.0));
  expect_moments(w, deviation * deviation * (1 - 4 * density / inside));
}

TEST(Initialise, TheSameSeedGivesTheSameBits) {
  using Draw = std::function<Tensor(Random&)>;
  const std::vector<Draw> draws{[](Random& random) {
                                  return glorot_uniform({5, 6}, random);
                                },
                                [](Random& random) {
                                  return glorot_normal({5, 6}, random);
                                },
                                [](Random& random) { return orthogonal(5, 6, random); },
                                [](Random& random) {
                                  return truncated_normal({5, 6}, 1, random);
                                }};
  for (const Draw& draw : draws) {
    Random first(7), again(7), other(8);
    const Tensor w = draw(first);
    EXPECT_TRUE(same_bits(w, draw(again)));
    EXPECT_FALSE(same_bits(w, draw(other)));
    EXPECT_FALSE(same_bits(w, draw(first))) << "the second draw is the first again";
    EXPECT_EQ(w.dtype(), f32);
  }
}

TEST(Initialise, LstmBeginsWithAForgetBiasOfOne) {
  Random random(9);
  const LstmCell cell(3, 4, random);
  for (std::int64_t k = 0; k < 16; ++k) EXPECT_EQ(cell.bias.at({k}), k / 4 == 1 ? 1 : 0) << k;
}

/// Each gate is initialised by itself: its fans are those of [hidden, input], and its recurrent rows are orthogonal.
void expect_gates(const char* name, const Tensor& weight_ih, const Tensor& weight_hh, int gates) {
  const std::int64_t hidden = weight_hh.dim(1);
  const double limit = std::sqrt(6.0 / static_cast<double>(hidden + weight_ih.dim(1)));
  ASSERT_EQ(weight_ih.dim(0), gates * hidden) << name;
  for (int gate = 0; gate < gates; ++gate) {
    const SliceIndex rows = range(gate * hidden, (gate + 1) * hidden);
    const double largest = moments_of(slice(weight_ih, {rows})).largest;
    EXPECT_LE(largest, static_cast<double>(static_cast<float>(limit))) << name << ", gate " << gate;
    EXPECT_GT(largest, 0.98 * limit) << name << ", gate " << gate;
    EXPECT_LT(distance_from_orthogonal(slice(weight_hh, {rows})), 1e-6) << name << ", gate " << gate;
  }
}

TEST(Initialise, RecurrentWeightsBeginGateByGate) {
  Random random(10);
  const LstmCell lstm(30, 20, random);
  const GruCell gru(30, 20, random);
  const RnnCell rnn(30, 20, random);
  expect_gates("LstmCell", lstm.weight_ih, lstm.weight_hh, 4);
  expect_gates("GruCell", gru.weight_ih, gru.weight_hh, 3);
  expect_gates("RnnCell", rnn.weight_ih, rnn.weight_hh, 1);
  for (const Tensor& bias : {Tensor(gru.bias_ih), Tensor(gru.bias_hh), Tensor(rnn.bias)})
    EXPECT_EQ(moments_of(bias).largest, 0);
  EXPECT_FALSE(same_bits(slice(lstm.weight_hh, {range(0, 20)}), slice(lstm.weight_hh, {range(20, 40)})));
}

TEST(Initialise, LayersBeginAsTheySay) {
  Random random(11);
  const Linear linear(300, 100, random);
  expect_moments(linear.weight, 2.0 / 400);
  EXPECT_EQ(moments_of(*linear.bias).largest, 0);
  const LayerNorm layer_norm(5);
  EXPECT_EQ(min(layer_norm.weight).item(), 1);
  EXPECT_EQ(max(layer_norm.weight).item(), 1);
  EXPECT_EQ(moments_of(layer_norm.bias).largest, 0);
  expect_moments(Embedding(200, 100, random).weight, 1);
  const CellMemory memory(8, random, {.slots = 2, .slot_size = 100, .heads = 2});
  for (const Tensor& weight : {Tensor(memory.w_q), Tensor(memory.w_k), Tensor(memory.w_v), Tensor(memory.w_o)})
    expect_moments(weight, 1.0 / 100);
  EXPECT_FALSE(same_bits(memory.w_q, memory.w_k));
}

}  // namespace
}  // namespace retrace
