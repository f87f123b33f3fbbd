// Attention with a factor of its own, heads of k and v that several heads of q share, the other corner of causal
// attention, and masks that want a gradient, beside what each is a shorter way to say.
#include <gtest/gtest.h>

#include <functional>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

/// The value of f and the gradients of its inputs for a random cotangent, the value first.
Tensors value_and_gradients(const Tensors& at, const std::function<Tensor(const Tensors&)>& f) {
  Tensors inputs;
  for (const Tensor& x : at) inputs.push_back(parameter(x));
  Tape tape;
  const Tensor y = f(inputs);
  Random random(7);
  tape.backward(sum(y * random.normal(y.shape(), y.dtype())));
  Tensors results{y.detach()};
  for (const Tensor& x : inputs) results.push_back(x.grad());
  return results;
}

void expect_all_near(const Tensors& a, const Tensors& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) expect_near(a[k], b[k], tolerance);
}

Tensors operands(const Shape& q, const Shape& k, const Shape& v, Dtype dtype) {
  Random random(3);
  return {random.normal(q, dtype), random.normal(k, dtype), random.normal(v, dtype)};
}

/// x [B, T, heads d] with each head as often as `sharing` says.
Tensor repeated_heads(const Tensor& x, int heads, std::int64_t sharing) {
  Tensors all;
  for (const Tensor& head : split(x, std::vector<std::int64_t>(static_cast<std::size_t>(heads), x.dim(-1) / heads), -1))
    for (std::int64_t k = 0; k < sharing; ++k) all.push_back(head);
  return concat(all, -1);
}

struct SharedHeads {
  const char* name;
  std::int64_t batch, queries, keys;
  bool causal, masked;
};
void PrintTo(const SharedHeads& one, std::ostream* out) { *out << one.name; }

class AttentionOfSharedHeads : public testing::TestWithParam<SharedHeads> {};

/// In registers, by products of groups of samples, by products of single heads, and in tiles.
INSTANTIATE_TEST_SUITE_P(Sizes, AttentionOfSharedHeads,
                         testing::Values(SharedHeads{"InRegisters", 5, 3, 4, false, false},
                                         SharedHeads{"InRegistersCausal", 40, 4, 4, true, false},
                                         SharedHeads{"ByProducts", 3, 20, 30, true, false},
                                         SharedHeads{"OfSingleHeads", 2, 100, 120, false, true},
                                         SharedHeads{"InTiles", 2, 190, 200, true, false}),
                         [](const auto& one) { return one.param.name; });

TEST_P(AttentionOfSharedHeads, IsThatOfRepeatedHeads) {
  const SharedHeads n = GetParam();
  for (const int key_heads : {1, 2})
    for (const Dtype dtype : {f32, f64}) {
      Tensor mask;
      if (n.masked) mask = less(Random(5).uniform({n.queries, n.keys}, 0, 1, f64), 0.8);
      const Tensors at = operands({n.batch, n.queries, 4 * 3}, {n.batch, n.keys, key_heads * 3},
                                  {n.batch, n.keys, key_heads * 2}, dtype);
      const auto shared = [&](const Tensors& in) {
        return attention(in[0], in[1], in[2], {.heads = 4, .causal = n.causal, .mask = mask, .key_heads = key_heads});
      };
      const auto repeated = [&](const Tensors& in) {
        const std::int64_t sharing = 4 / key_heads;
        return attention(in[0], repeated_heads(in[1], key_heads, sharing), repeated_heads(in[2], key_heads, sharing),
                         {.heads = 4, .causal = n.causal, .mask = mask});
      };
      const Tensors results = value_and_gradients(at, shared);
      expect_all_near(results, value_and_gradients(at, repeated), dtype == f32 ? 2e-4 : 1e-11);
      const ThreadsScope one_thread(1);
      expect_all_near(results, value_and_gradients(at, shared), 0);
    }
}

TEST(AttentionScale, IsTheFactorOfTheProducts) {
  for (const Shape& k : {Shape{2, 5, 6}, Shape{2, 80, 6}}) {
    const Tensors at = operands({2, 7, 6}, k, k, f64);
    for (const double scale : {0.3, -2.0, 0.0}) {
      const auto own = [=](const Tensors& in) { return attention(in[0], in[1], in[2], {.heads = 2, .scale = scale}); };
      const auto of_q = [=](const Tensors& in) {
        return attention(in[0] * (scale * std::sqrt(3.0)), in[1], in[2], {.heads = 2});
      };
      expect_all_near(value_and_gradients(at, own), value_and_gradients(at, of_q), 1e-12);
    }
  }
}

TEST(AttentionCorner, OfTheUpperLeftShowsQueryIKeys0ToI) {
  for (const auto& [queries, keys] : {std::pair(3, 5), std::pair(6, 4), std::pair(4, 4)}) {
    const Tensor q = distinct({2, queries, 4}, 0.1), k = distinct({2, keys, 4}, 0.7);
    const Tensor weights =
        attention_with_weights(q, k, k, {.heads = 2, .causal = true, .corner = CausalCorner::upper_left}).weights;
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j) EXPECT_EQ(weights.at({1, 1, i, j}) == 0, j > i) << i << ", " << j;
  }
}

TEST(AttentionCorner, AddsToAMask) {
  const Tensor q = distinct({3, 4}, 0.1), k = distinct({5, 4}, 0.7), mask = indices({1, 0, 1, 1, 1});
  const Tensor weights =
      attention_with_weights(q, k, k, {.causal = true, .mask = mask, .corner = CausalCorner::upper_left}).weights;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 5; ++j) EXPECT_EQ(weights.at({i, j}) == 0, j > i || j == 1) << i << ", " << j;
}

/// softmax(q k^T / sqrt(d) + mask) v of other ops, in each head.
Tensor attention_by_other_ops(const Tensors& in, int heads) {
  const Tensor q = split_heads(in[0], heads), k = split_heads(in[1], heads), v = split_heads(in[2], heads);
  const Tensor scores = scale(matmul(q, k, {.transpose_b = true}), 1 / std::sqrt(static_cast<double>(q.dim(-1))));
  return combine_heads(matmul(softmax(scores + in[3]), v));
}

class AttentionMaskGradient : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionMaskGradient,
                         testing::Values(Shape{}, Shape{1}, Shape{6}, Shape{5, 1}, Shape{5, 6}, Shape{2, 5, 6},
                                         Shape{2, 1, 6}, Shape{3, 1, 5, 6}, Shape{3, 2, 5, 6}, Shape{3, 1, 1, 1}));

TEST_P(AttentionMaskGradient, IsThatOfASumBeforeTheSoftmax) {
  for (const Dtype dtype : {f32, f64}) {
    Tensors at = operands({3, 5, 4}, {3, 6, 4}, {3, 6, 6}, dtype);
    at.push_back(Random(11).normal(GetParam(), dtype));
    const auto fused = [](const Tensors& in) { return attention(in[0], in[1], in[2], {.heads = 2, .mask = in[3]}); };
    const auto composed = [](const Tensors& in) { return attention_by_other_ops(in, 2); };
    expect_all_near(value_and_gradients(at, fused), value_and_gradients(at, composed), dtype == f32 ? 1e-5 : 1e-13);
  }
}

/// Weights that would not be stored are, for a mask that wants a gradient; one that wants none keeps them away.
TEST(AttentionMask, WithAGradientOfLongSequences) {
  Tensors at = operands({1, 190, 4}, {1, 200, 4}, {1, 200, 4}, f64);
  at.push_back(Random(11).normal({2, 1, 200}, f64));
  const auto fused = [](const Tensors& in) { return attention(in[0], in[1], in[2], {.heads = 2, .mask = in[3]}); };
  const auto composed = [](const Tensors& in) { return attention_by_other_ops(in, 2); };
  expect_all_near(value_and_gradients(at, fused), value_and_gradients(at, composed), 1e-12);
}

/// A learned bias where a key may be hidden: nothing reaches the bias of hidden keys, and no NaN.
TEST(AttentionMask, HiddenKeysGiveTheMaskNoGradient) {
  const Tensors at = operands({2, 3, 4}, {2, 5, 4}, {2, 5, 4}, f64);
  const Tensor bias = parameter(Random(2).normal({3, 5}, f64));
  const Tensor visible = indices({{1, 1, 0, 1, 0}, {0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}});
  for (const bool expanded : {false, true}) {
    bias.zero_grad();
    Tape tape({.expand_fused = expanded});
    const Tensor mask = where(visible, bias, -infinity);
    tape.backward(sum(square(attention(at[0], at[1], at[2], {.heads = 2, .mask = mask}))));
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 5; ++j) {
        const bool is_hidden = visible.values<std::int64_t>()[static_cast<std::size_t>(i * 5 + j)] == 0;
        EXPECT_EQ(bias.grad().at({i, j}) == 0, is_hidden) << i << ", " << j;
      }
  }
}

TEST(AttentionMask, OfPackedAttentionGetsItsGradient) {
  Random random(3);
  const Tensors at{random.normal({2, 4, 12}, f64), random.normal({2, 4, 4}, f64)};
  const auto packed = [](const Tensors& in) {
    return packed_attention(in[0], {.heads = 2, .key_size = 2, .mask = in[1]});
  };
  const auto apart = [](const Tensors& in) {
    const Tensors parts = split(in[0], {4, 4, 4}, -1);
    return attention(parts[0], parts[1], parts[2], {.heads = 2, .mask = in[1]});
  };
  expect_all_near(value_and_gradients(at, packed), value_and_gradients(at, apart), 1e-14);
}

TEST(AttentionForms, Errors) {
  const Tensor q = ones({2, 3, 8}, f64), k = ones({2, 5, 4}, f64);
  expect_error<ShapeError>([&] { attention(q, k, k, {.heads = 4, .key_heads = 3}); },
                           "attention: q[2, 3, 8], k[2, 5, 4] and v[2, 5, 4]: 3 heads of k and v do not divide 4 heads "
                           "of q, each for as many; choose a divisor");
  expect_error<ShapeError>(
      [&] { attention(q, k, k, {.heads = 4, .key_heads = 1}); },
      "attention: q[2, 3, 8], k[2, 5, 4] and v[2, 5, 4]: 1 heads of k of 2 features, as in each of "
      "4 heads of q, are 2 columns of k, and must divide those of v");
  expect_error<ShapeError>(
      [&] { attention(q, q, q, {.key_heads = -1}); },
      "attention: q[2, 3, 8], k[2, 3, 8] and v[2, 3, 8]: -1 heads of k and v do not divide 1 heads "
      "of q, each for as many; choose a divisor");
  expect_error<ValueError>([&] { attention(q, q, q, {.scale = nan}); },
                           "attention: scale is nan; the factor of q k^T must be finite");
}

}  // namespace
}  // namespace retrace
