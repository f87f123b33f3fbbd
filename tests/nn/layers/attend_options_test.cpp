// The options of multi-head attention: other sizes of keys and values, lengths, causal, dropout, positions, caches.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

class AttendOptionsTest : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{1};
  Tensor x = random.normal({2, 5, 8}), lengths = indices({3, 5});
};

SliceIndex until(std::int64_t end) { return range(0, end); }

TEST_F(AttendOptionsTest, KeysAndValuesMayHaveOtherSizes) {
  const MultiHeadAttention mha(8, random, {.heads = 2, .bias = true, .key_size = 3, .value_size = 5});
  const Tensor k = random.normal({2, 4, 3}), v = random.normal({2, 4, 5});
  const AttentionResult result = mha(x, k, v);
  const AttentionResult plain = attention_with_weights(mha.query(x), mha.key(k), mha.value(v), {.heads = 2});
  EXPECT_TRUE(same_bits(result.y, mha.out(plain.y)));
  EXPECT_TRUE(same_bits(result.weights, plain.weights));
  EXPECT_THROW(mha(x, v, v), ShapeError);
}

TEST_F(AttendOptionsTest, LengthsAreAMaskOfThePadding) {
  for (const int heads : {1, 4}) {
    const MultiHeadAttention mha(8, random, {.heads = heads});
    const Tensor by_mask = mha(x, causal_mask(5) + padding_mask(lengths, 5)).y;
    EXPECT_TRUE(same_bits(mha(x, {.mask = causal_mask(5), .lengths = lengths}).y, by_mask));
    EXPECT_LT(difference(mha(x, {.causal = true, .lengths = lengths}).y, by_mask), 1e-14);
    const Tensor visible =
        indices({{1, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {1, 1, 1, 0, 0}, {1, 1, 1, 1, 0}, {1, 1, 1, 1, 1}});
    EXPECT_TRUE(same_bits(mha(x, {.mask = visible, .lengths = lengths}).y, by_mask));
    EXPECT_TRUE(same_bits(mha.without_weights(x, x, x, {.mask = visible, .lengths = lengths}), by_mask));
  }
}

TEST_F(AttendOptionsTest, PaddingChangesNoBitOfTheOthers) {
  for (const AttentionPositions positions :
       {AttentionPositions::none, AttentionPositions::rotary, AttentionPositions::alibi}) {
    const MultiHeadAttention mha(8, random, {.heads = 2, .positions = positions});
    const Tensor other = concat({slice(x, {until(1), until(3)}), random.normal({1, 2, 8})}, 1);
    const Tensor changed = concat({other, slice(x, {range(1)})});
    const Tensor y = mha(x, {.lengths = lengths}).y, again = mha(changed, {.lengths = lengths}).y;
    EXPECT_TRUE(same_bits(slice(y, {0, until(3)}), slice(again, {0, until(3)})));
    EXPECT_TRUE(same_bits(y[1], again[1]));
    const Tensor alone = mha(slice(x, {until(1), until(3)})).y;
    EXPECT_LT(difference(slice(y, {until(1), until(3)}), alone), 1e-14);
  }
}

TEST_F(AttendOptionsTest, DropoutIsOfTheWeights) {
  for (const int heads : {1, 2}) {
    const MultiHeadAttention mha(8, random, {.heads = heads, .dropout = 0.4});
    Random one(3), again(3), third(3);
    const AttentionResult result = mha(x, {.causal = true, .random = &one});
    const Tensor dropped_weights = dropout(result.weights, 0.4, &again);
    const Tensor y = combine_heads(matmul(dropped_weights, split_heads(mha.value(x), heads)));
    EXPECT_LT(difference(result.y, mha.out(y)), 1e-14);
    EXPECT_TRUE(same_bits(mha.without_weights(x, x, x, {.causal = true, .random = &third}), result.y));
    EXPECT_GT(difference(result.y, mha(x, {.causal = true}).y), 1e-3);
    EXPECT_LT(difference(result.weights, mha(x, {.causal = true}).weights), 1e-15);
  }
}

TEST_F(AttendOptionsTest, RotaryPositionsTurnQueriesAndKeys) {
  const MultiHeadAttention mha(8, random, {.heads = 2, .positions = AttentionPositions::rotary});
  const auto [y, weights] = attention_with_weights(rotary(mha.query(x), {.heads = 2}), rotary(mha.key(x), {.heads = 2}),
                                                   mha.value(x), {.heads = 2, .causal = true});
  EXPECT_LT(difference(mha(x, {.causal = true}).y, mha.out(y)), 1e-14);
}

TEST_F(AttendOptionsTest, AlibiAddsItsBiasesToTheScores) {
  for (const int heads : {1, 2}) {
    const MultiHeadAttention mha(8, random, {.heads = heads, .positions = AttentionPositions::alibi});
    const Tensor q = split_heads(mha.query(x), heads), k = split_heads(mha.key(x), heads);
    const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(8.0 / heads) + alibi_bias(heads, 5, 5);
    const Tensor hidden = causal_mask(5) + padding_mask(lengths, 5);
    for (const Tensor& mask : {Tensor(zeros({1})), hidden}) {
      const Tensor y = mha.out(combine_heads(matmul(softmax(scores + mask), split_heads(mha.value(x), heads))));
      const AttendOptions options =
          mask.numel() == 1 ? AttendOptions{} : AttendOptions{.causal = true, .lengths = lengths};
      EXPECT_LT(difference(mha(x, options).y, y), 1e-14);
      if (!options.causal) continue;
      EXPECT_LT(difference(mha(x, {.mask = causal_mask(5), .lengths = lengths}).y, y), 1e-14);
    }
    const Tensor of_steps = causal_mask(5);
    EXPECT_LT(difference(mha(x, of_steps).y, mha(x, {.causal = true}).y), 1e-14);
  }
}

TEST_F(AttendOptionsTest, ACacheGoesOnWhereItEnded) {
  for (const AttentionPositions positions :
       {AttentionPositions::none, AttentionPositions::rotary, AttentionPositions::alibi}) {
    const MultiHeadAttention mha(8, random, {.heads = 2, .bias = true, .positions = positions});
    const Tensor whole = mha(x, {.causal = true}).y;
    KeyValueCache cache;
    Tensors steps;
    for (const Tensor& part : split(x, {1, 2, 1, 1}, 1))
      steps.push_back(mha(part, {.causal = true, .cache = &cache}).y);
    EXPECT_LT(difference(concat(steps, 1), whole), 1e-14);
    EXPECT_EQ(cache.length(), 5);
  }
}

TEST_F(AttendOptionsTest, ProjectedKeysGiveWhatTheKeysGive) {
  const MultiHeadAttention mha(8, random, {.heads = 2});
  const Tensor k = random.normal({2, 3, 8});
  const KeyValueCache projected = mha.project(k, k);
  const AttendOptions options{.lengths = indices({1, 3})};
  EXPECT_TRUE(same_bits(mha.from_projected(x, projected, options), mha(x, k, k, options).y));
  KeyValueCache other;
  EXPECT_EQ(message_of([&] { mha.from_projected(x, projected, {.cache = &other}); }),
            "MultiHeadAttention: from_projected reads its keys and appends none; give it no cache");
}

TEST_F(AttendOptionsTest, Errors) {
  const MultiHeadAttention mha(8, random, {.heads = 2});
  EXPECT_EQ(message_of<ShapeError>([&] { mha(x, {.lengths = indices({1})}); }),
            "MultiHeadAttention: lengths[1] must be [2], one for each sample of q[2, 5, 8]");
  EXPECT_THROW(mha(x, {.lengths = indices({1, 6})}), IndexError);
  KeyValueCache cache;
  mha(x, {.cache = &cache});
  EXPECT_EQ(message_of<ShapeError>([&] {
              mha(zeros({3, 1, 8}), {.cache = &cache});
            }),
            "MultiHeadAttention: a cache with keys[2, 5, 8] and values[2, 5, 8] cannot take keys[3, 1, 8]; begin each "
            "batch with an empty cache");
  EXPECT_THROW(mha(zeros({2, 1, 8}), {.lengths = indices({1, 7}), .cache = &cache}), IndexError);
  EXPECT_EQ(cache.length(), 5) << "what threw changed nothing";
  EXPECT_EQ(
      message_of<ShapeError>(
          [&] { MultiHeadAttention(6, random, {.heads = 2, .positions = AttentionPositions::rotary}); }),
      "MultiHeadAttention: rotary positions turn pairs of features, and a head has 3; choose heads of an even size");
  EXPECT_EQ(message_of([&] { MultiHeadAttention(8, random, {.dropout = -1}); }),
            "MultiHeadAttention: the probability of dropout -1 must lie from 0 to 1");
}

}  // namespace
}  // namespace retrace
