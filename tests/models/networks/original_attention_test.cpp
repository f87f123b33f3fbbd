// The original programs' checks of attention.
#include <retrace/tests/models/networks/original_test.h>

#include <limits>

namespace retrace {
namespace {

using OriginalAttention = OriginalTest;

// ---- attention: batch 2, length 5, keys of 8; 64 features in 4 heads

TEST_F(OriginalAttention, ScaledDotProductRowsSumToOne) {
  const Tensor q = random.normal({2, 5, 8}), k = random.normal({2, 5, 8}), v = random.normal({2, 5, 8});
  const auto [y, weights] = attention_with_weights(q, k, v);
  EXPECT_EQ(y.shape(), (Shape{2, 5, 8}));
  ASSERT_EQ(weights.shape(), (Shape{2, 5, 5}));
  EXPECT_LT(difference(sum(weights, -1), ones({2, 5})), 1e-6);
  EXPECT_GE(min(weights).item(), 0);
  const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(8.0);
  EXPECT_LT(difference(y, matmul(softmax(scores), v)), 1e-12);
}

TEST_F(OriginalAttention, CausalMaskIsZeroUpToTheDiagonalAndMinusInfinityAbove) {
  const Tensor mask = causal_mask(5);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 5; ++j)
      EXPECT_EQ(mask.at({i, j}), j <= i ? 0 : -std::numeric_limits<double>::infinity());
}

TEST_F(OriginalAttention, CausalWeightsOfTheFutureAreZero) {
  const Tensor x = random.normal({2, 5, 8});
  const Tensor weights = attention_with_weights(x, x, x, {.mask = causal_mask(5)}).weights;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t j = i + 1; j < 5; ++j) EXPECT_LT(weights.at({b, i, j}), 1e-6);
  EXPECT_LT(difference(sum(weights, -1), ones({2, 5})), 1e-6);
  EXPECT_NEAR(weights.at({0, 0, 0}), 1, 1e-12);
}

TEST_F(OriginalAttention, MultiHeadAttentionWithEveryNumberOfHeads) {
  const Tensor q = random.normal({2, 5, 64}), k = random.normal({2, 5, 64}), v = random.normal({2, 5, 64});
  for (const int heads : {1, 2, 4, 8}) {
    const MultiHeadAttention mha(64, random, {.heads = heads});
    const AttentionResult result = mha(q, k, v);
    EXPECT_EQ(result.y.shape(), (Shape{2, 5, 64}));
    ASSERT_EQ(result.weights.shape(), (Shape{2, heads, 5, 5}));
    EXPECT_LT(difference(sum(result.weights, -1), ones({2, heads, 5})), 1e-6);
    EXPECT_TRUE(all_finite(result.y));
  }
  EXPECT_THROW(MultiHeadAttention(64, random, {.heads = 5}), ShapeError);
}

TEST_F(OriginalAttention, SelfAttentionIsQueriesKeysAndValuesOfOneTensor) {
  const MultiHeadAttention mha(64, random, {.heads = 4});
  const Tensor x = random.normal({2, 5, 64});
  EXPECT_EQ(difference(mha(x).y, mha(x, x, x).y), 0);
}

TEST_F(OriginalAttention, MasksOfAllAndOfEachSample) {
  const MultiHeadAttention mha(64, random, {.heads = 4});
  const Tensor x = random.normal({2, 5, 64}), mask = causal_mask(5);
  const AttentionResult shared = mha(x, mask), per_sample = mha(x, unsqueeze(stack({mask, mask}), 1));
  const AttentionResult of_one = mha(x, unsqueeze(mask, 0));
  EXPECT_EQ(difference(shared.y, per_sample.y), 0);
  EXPECT_EQ(difference(shared.y, of_one.y), 0) << "a batch of one mask serves every sample";
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = i + 1; j < 5; ++j) EXPECT_LT(max(slice(per_sample.weights, {all, all, i, j})).item(), 1e-6);
  EXPECT_THROW(mha(x, zeros({4})), ShapeError);
}

TEST_F(OriginalAttention, WeightsBeginAsLargeAsTheRootOfOneOverTheSize) {
  const double expected = std::sqrt(1.0 / 64);
  const CellMemory memory(64, random);
  const RelationalMemory gated(64, random);
  const MultiHeadAttention mha(64, random);
  for (const Tensor& w :
       {Tensor(memory.w_q), Tensor(memory.w_k), Tensor(memory.w_v), Tensor(memory.w_o), Tensor(gated.w_q),
        Tensor(gated.w_k), Tensor(gated.w_v), Tensor(gated.w_o), Tensor(mha.query.weight), Tensor(mha.out.weight)}) {
    EXPECT_EQ(w.shape(), (Shape{64, 64}));
    EXPECT_GT(deviation_of(w), 0.5 * expected);
    EXPECT_LT(deviation_of(w), 2 * expected);
  }
}

}  // namespace
}  // namespace retrace
