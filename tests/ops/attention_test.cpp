// Attention against its definition in plain loops; masks and errors.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

/// One query, one head: the weights over keys that are not hidden.
std::vector<double> weights_of(const Tensor& q, const Tensor& k, std::int64_t batch, std::int64_t query,
                               std::int64_t first, std::int64_t features) {
  std::vector<double> weights;
  double total = 0;
  for (std::int64_t key = 0; key < k.dim(1); ++key) {
    double score = 0;
    for (std::int64_t f = first; f < first + features; ++f) score += q.at({batch, query, f}) * k.at({batch, key, f});
    weights.push_back(std::exp(score / std::sqrt(static_cast<double>(features))));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

TEST(Attention, IsItsDefinitionForEachHead) {
  const Tensor q = distinct({2, 3, 4}, 0.1), k = distinct({2, 5, 4}, 0.5), v = distinct({2, 5, 6}, 0.9);
  for (const int heads : {1, 2}) {
    const auto [y, weights] = attention_with_weights(q, k, v, {.heads = heads});
    ASSERT_EQ(y.shape(), (Shape{2, 3, 6}));
    ASSERT_EQ(weights.shape(), heads == 1 ? (Shape{2, 3, 5}) : (Shape{2, 2, 3, 5}));
    const std::int64_t dk = 4 / heads, dv = 6 / heads;
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t f = 0; f < 6; ++f) {
          const std::vector<double> want = weights_of(q, k, b, i, f / dv * dk, dk);
          double sum = 0;
          for (std::int64_t j = 0; j < 5; ++j) sum += want[static_cast<std::size_t>(j)] * v.at({b, j, f});
          EXPECT_NEAR(y.at({b, i, f}), sum, 1e-12);
        }
  }
}

TEST(Attention, CausalHidesWhatComesLater) {
  const Tensor q = distinct({3, 2}, 0.1), k = distinct({5, 2}, 0.5);
  const Tensor weights = attention_with_weights(q, k, k, {.causal = true}).weights;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 5; ++j) EXPECT_EQ(weights.at({i, j}) == 0, j > i + 2) << i << ", " << j;
}

/// Four queries, two keys: the first two queries see no key, and get zeros and a zero gradient.
TEST(Attention, QueriesThatSeeNothing) {
  const Tensor q = parameter(distinct({4, 2}, 0.1)), k = parameter(distinct({2, 2}, 0.5));
  Tape tape;
  const Tensor y = attention(q, k, k, {.causal = true});
  tape.backward(sum(square(y)));
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t f = 0; f < 2; ++f) {
      EXPECT_EQ(y.at({i, f}), 0);
      EXPECT_EQ(q.grad().at({i, f}), 0);
    }
}

TEST(Attention, MasksOfBothKinds) {
  const Tensor x = distinct({2, 3, 4}, 0.1);
  const Tensor additive = tensor({{0, -infinity, 0}, {0, 0, -infinity}, {-infinity, 0, 0}}, f64);
  const Tensor visible = indices({{1, 0, 1}, {1, 1, 0}, {0, 1, 1}});
  const Tensor of_batch = stack({unsqueeze(visible, 0), ones({1, 3, 3}, i64)});
  for (const int heads : {1, 2}) {
    const Tensor a = attention(x, x, x, {.heads = heads, .mask = additive});
    const Tensor b = attention(x, x, x, {.heads = heads, .mask = visible});
    const Tensor c = attention(x, x, x, {.heads = heads, .mask = of_batch});
    const Tensor free = attention(x, x, x, {.heads = heads});
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t f = 0; f < 4; ++f) {
        EXPECT_EQ(a.at({0, i, f}), b.at({0, i, f}));
        EXPECT_EQ(a.at({0, i, f}), c.at({0, i, f}));
        EXPECT_EQ(free.at({1, i, f}), c.at({1, i, f}));
      }
  }
}

/// One rule for any number of heads and any batch, also where the sizes of both are the same.
TEST(Attention, AMaskIsAlignedFromTheRightWithBatchHeadsQueriesAndKeys) {
  for (const int heads : {1, 2, 3})
    for (const std::int64_t batch : {1, 2, 3}) {
      const Tensor x = distinct({batch, 3, 6}, 0.1), full = Random(4).normal({batch, heads, 3, 3}, f64);
      const auto weights = [&](const Tensor& mask) {
        const Tensor w = attention_with_weights(x, x, x, {.heads = heads, .mask = mask}).weights;
        return heads == 1 ? unsqueeze(w, 1) : w;
      };
      const auto scores =
          matmul(split_heads(x, heads), split_heads(x, heads), {.transpose_b = true}) / std::sqrt(6.0 / heads);
      const Tensor of_heads = full[0], of_samples = slice(full, {all, range(0, 1)}), of_all = full[0][0];
      for (const Tensor& mask : {full, of_heads, of_samples, of_all, unsqueeze(of_heads, 0), of_all[0]})
        EXPECT_LT(difference(weights(mask), softmax(scores + mask)), 1e-14)
            << mask.shape() << ", " << heads << " heads, batch " << batch;
      const Tensor without_heads = squeeze(of_samples, 1);
      if (heads == 1) {
        EXPECT_LT(difference(weights(without_heads), weights(of_samples)), 1e-14) << "batch " << batch;
      } else if (batch != heads && batch != 1) {
        EXPECT_THROW(weights(without_heads), ShapeError) << heads << " heads, batch " << batch;
      }
    }
  const Tensor matrix = distinct({3, 4}, 0.1);
  EXPECT_TRUE(same_bits(attention(matrix, matrix, matrix, {.mask = zeros({1, 3, 3}, f64)}),
                        attention(matrix, matrix, matrix, {.mask = zeros({3, 3}, f64)})));
}

TEST(Attention, CausalAndAMaskTogether) {
  const Tensor x = distinct({3, 2}, 0.1);
  const Tensor weights = attention_with_weights(x, x, x, {.causal = true, .mask = indices({0, 1, 1})}).weights;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(weights.at({i, j}) != 0, j >= 1 && j <= i);
}

TEST(Attention, EmptyLengths) {
  const Tensor q = ones({2, 0, 4}, f64), k = ones({2, 3, 4}, f64), none = ones({2, 0, 4}, f64);
  EXPECT_EQ(attention(q, k, k, {.heads = 2, .causal = true}).shape(), (Shape{2, 0, 4}));
  const Tensor y = attention(k, none, none, {.heads = 2});
  ASSERT_EQ(y.shape(), (Shape{2, 3, 4}));
  for (const double value : y.values<double>()) EXPECT_EQ(value, 0);
  const Tensor nothing = ones({3, 0}, f64), v = tensor({{3}, {6}, {9}}, f64);
  EXPECT_DOUBLE_EQ(attention(nothing, nothing, v).at({0, 0}), 6) << "without features every key weighs the same";
}

TEST(Attention, Errors) {
  const Tensor q = ones({2, 3, 4}, f64), short_q = ones({2, 3, 3}, f64), long_v = ones({2, 5, 4}, f64);
  expect_error<ShapeError>(
      [&] { attention(q, short_q, q); },
      "attention: q[2, 3, 4], k[2, 3, 3] and v[2, 3, 4]: q and k have 4 and 3 features; they must be equal");
  expect_error<ShapeError>(
      [&] { attention(q, q, long_v); },
      "attention: q[2, 3, 4], k[2, 3, 4] and v[2, 5, 4]: k and v have 3 and 5 rows; give one value per key");
  expect_error<ShapeError>(
      [&] { attention(q, q, q, {.heads = 3}); },
      "attention: q[2, 3, 4], k[2, 3, 4] and v[2, 3, 4]: 3 heads do not divide the features; choose a divisor");
  expect_error<ShapeError>(
      [&] {
        attention(q, q, q, {.mask = ones({5, 2, 3, 3}, f64)});
      },
      "attention: mask[5, 2, 3, 3] does not broadcast to [batch..., heads, queries, keys], here [2, 1, 3, 3], aligned "
      "from the right; a mask for each sample is [batch..., 1, queries, keys]");
  EXPECT_THROW(attention(q, q, ones({3, 4}, f64)), ShapeError);
  EXPECT_THROW(attention(q, q, q, {.mask = ones({2}, f64)}), ShapeError);
  EXPECT_THROW(attention(indices({{1}}), indices({{1}}), indices({{1}})), DtypeError);
}

}  // namespace
}  // namespace retrace
