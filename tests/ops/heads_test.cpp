// Heads and masks: the position of every element, their use in attention, and their errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <retrace/tests/ops/error_table.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

TEST(Heads, ColumnsOfAHeadBecomeItsMatrix) {
  const Tensor x = distinct({2, 3, 8}, 0.1), y = split_heads(x, 4);
  ASSERT_EQ(y.shape(), (Shape{2, 4, 3, 2}));
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 4; ++h)
      for (std::int64_t t = 0; t < 3; ++t)
        for (std::int64_t d = 0; d < 2; ++d) EXPECT_EQ(y.at({b, h, t, d}), x.at({b, t, 2 * h + d}));
}

TEST(Heads, CombineIsTheInverseOfSplitAtEveryRank) {
  for (const Shape& shape : {Shape{3, 6}, Shape{2, 3, 6}, Shape{2, 1, 5, 3, 6}, Shape{1, 1, 1, 1, 1, 4, 6},
                             Shape{0, 3, 6}, Shape{2, 0, 6}, Shape{2, 3, 0}})
    for (const int heads : {1, 2, 3, 6}) {
      const Tensor x = distinct(shape, 0.3), y = split_heads(x, heads);
      EXPECT_EQ(y.shape(), shape.replaced(shape.rank() - 1, shape[-1] / heads).inserted(shape.rank() - 2, heads));
      const Tensor back = combine_heads(y);
      ASSERT_EQ(back.shape(), shape);
      EXPECT_TRUE(std::ranges::equal(back.values<double>(), x.values<double>()))
          << to_text(shape) << ", " << heads << " heads";
    }
}

TEST(Heads, GradientsGoBackToWhereTheNumbersCameFrom) {
  const Tensor x = parameter(distinct({2, 3, 4}, 0.1)), u = distinct({2, 2, 3, 2}, 0.7);
  Tape tape;
  tape.backward({split_heads(x, 2)}, {u});
  const Tensor expected = combine_heads(u);
  EXPECT_TRUE(std::ranges::equal(x.grad().values<double>(), expected.values<double>()));
}

TEST(Heads, AttentionOfHeadsIsAttentionHeadByHead) {
  const Tensor q = distinct({2, 3, 4}, 0.1), k = distinct({2, 5, 4}, 0.5), v = distinct({2, 5, 6}, 0.9);
  const Tensor y = attention(q, k, v, {.heads = 2});
  const Tensor by_head = combine_heads(attention(split_heads(q, 2), split_heads(k, 2), split_heads(v, 2)));
  ASSERT_EQ(by_head.shape(), y.shape());
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t f = 0; f < 6; ++f) EXPECT_NEAR(by_head.at({b, i, f}), y.at({b, i, f}), 1e-12);
}

TEST(Heads, Errors) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { split_heads(with.vector, 1); },
       "split_heads: x[3] must be [..., length, features]; unsqueeze it first"},
      {Mistake::shape, [](auto& with) { split_heads(with.matrix, 2); },
       "split_heads: 2 heads do not divide the 3 features of x[2, 3]; choose a divisor"},
      {Mistake::shape, [](auto& with) { split_heads(with.weight, 0); },
       "split_heads: 0 heads do not divide the 2 features of w[4, 2]; choose a divisor"},
      {Mistake::shape, [](auto& with) { split_heads(with.weight, -2); },
       "split_heads: -2 heads do not divide the 2 features of w[4, 2]; choose a divisor"},
      {Mistake::shape, [](auto& with) { split_heads(with.deep, 1); },
       "split_heads: x[1, 1, 1, 1, 1, 1, 1, 1] would get 9 axes, more than the 8 that a tensor can have; reshape some "
       "of "
       "them together"},
      {Mistake::shape, [](auto& with) { combine_heads(with.matrix); },
       "combine_heads: x[2, 3] must be [..., heads, length, features]; give it what split_heads gave"},
  });
}

TEST(CausalMask, HidesWhatComesAfterTheQuery) {
  for (const auto& [queries, keys] : {std::pair{3, 3}, {2, 5}, {5, 2}, {1, 1}, {0, 4}, {4, 0}}) {
    const Tensor mask = causal_mask(queries, keys, f64);
    ASSERT_EQ(mask.shape(), (Shape{queries, keys}));
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j)
        EXPECT_EQ(mask.at({i, j}), j <= i + keys - queries ? 0 : -infinity) << i << ", " << j;
  }
  EXPECT_EQ(causal_mask(4).dtype(), f32);
  EXPECT_EQ(causal_mask(4, f64).shape(), (Shape{4, 4}));
  EXPECT_FALSE(causal_mask(4).wants_gradient());
}

/// There may be fewer queries than keys, as when a segment continues an earlier one.
TEST(CausalMask, IsWhatTheOptionOfAttentionDoes) {
  const Tensor q = distinct({2, 3, 4}, 0.1), k = distinct({2, 5, 4}, 0.5);
  for (const int heads : {1, 2}) {
    const Tensor option = attention(q, k, k, {.heads = heads, .causal = true});
    const Tensor mask = attention(q, k, k, {.heads = heads, .mask = causal_mask(3, 5, f64)});
    EXPECT_TRUE(std::ranges::equal(option.values<double>(), mask.values<double>()));
  }
}

TEST(PaddingMask, HidesKeysFromTheLengthOfTheirSampleOn) {
  const Tensor mask = padding_mask(indices({2, 0, 4}), 4, f64);
  ASSERT_EQ(mask.shape(), (Shape{3, 1, 1, 4}));
  const std::int64_t lengths[] = {2, 0, 4};
  for (std::int64_t b = 0; b < 3; ++b)
    for (std::int64_t j = 0; j < 4; ++j)
      EXPECT_EQ(mask.at({b, 0, 0, j}), j < lengths[b] ? 0 : -infinity) << b << ", " << j;
  EXPECT_EQ(padding_mask(indices({0, 0}), 0).shape(), (Shape{2, 1, 1, 0}));
}

/// Values behind the end of a sample have no effect, and a sample of length 0 gets zeros.
TEST(PaddingMask, MakesAttentionBlindForPadding) {
  const Tensor x = distinct({3, 4, 4}, 0.1), lengths = indices({2, 0, 4});
  for (const int heads : {1, 2}) {
    const Tensor y = attention(x, x, x, {.heads = heads, .mask = padding_mask(lengths, 4, f64)});
    const Tensor first = slice(x, {range(0, 1), range(0, 2)}), last = slice(x, {range(2, 3)});
    const Tensor of_first = attention(first, first, first, {.heads = heads});
    const Tensor of_last = attention(last, last, last, {.heads = heads});
    for (std::int64_t f = 0; f < 4; ++f) {
      for (std::int64_t i = 0; i < 2; ++i) EXPECT_NEAR(y.at({0, i, f}), of_first.at({0, i, f}), 1e-14);
      for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(y.at({2, i, f}), of_last.at({0, i, f}), 1e-14);
      for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(y.at({1, i, f}), 0);
    }
  }
}

TEST(PaddingMask, AddsUpWithACausalMask) {
  const Tensor x = distinct({2, 3, 2}, 0.1);
  const Tensor both = causal_mask(3, f64) + padding_mask(indices({3, 2}), 3, f64);
  ASSERT_EQ(both.shape(), (Shape{2, 1, 3, 3}));
  const Tensor weights = attention_with_weights(x, x, x, {.mask = both}).weights;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(weights.at({b, i, j}) != 0, j <= i && j < 3 - b);
}

TEST(Masks, Errors) {
  expect_refusals({
      {Mistake::shape, [](auto&) { causal_mask(-1); }, "causal_mask: queries is -1; a mask has an extent of 0 or more"},
      {Mistake::shape, [](auto&) { causal_mask(2, -3); }, "causal_mask: keys is -3; a mask has an extent of 0 or more"},
      {Mistake::dtype, [](auto&) { causal_mask(2, i64); },
       "causal_mask: i64 has no -infinity; make the mask in the dtype of what it is added to"},
      {Mistake::shape, [](auto& with) { padding_mask(with.ids, -1); },
       "padding_mask: time is -1; a mask has an extent of 0 or more"},
      {Mistake::shape, [](auto& with) { padding_mask(with.vector, 4); },
       "padding_mask: lengths[3] of dtype f64 must be i64 of shape [batch], one per sample"},
      {Mistake::shape, [](auto& with) { padding_mask(with.whole, 4); },
       "padding_mask: lengths[2, 3] of dtype i64 must be i64 of shape [batch], one per sample"},
      {Mistake::index, [](auto& with) { padding_mask(with.far, 6); },
       "padding_mask: a length of 7 is outside 0 to 6; check lengths[2]"},
      {Mistake::index, [](auto& with) { padding_mask(with.negative, 6); },
       "padding_mask: a length of -1 is outside 0 to 6; check lengths[2]"},
      {Mistake::dtype, [](auto& with) { padding_mask(with.ids, 4, i64); },
       "padding_mask: i64 has no -infinity; make the mask in the dtype of what it is added to"},
  });
}

}  // namespace
}  // namespace retrace
