// Multi-head attention against plain loops and against its composed twin, and CellMemory, which uses it.
#include <retrace/nn/layers/multi_head_attention.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

class MultiHeadAttentionTest : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{1};
};

/// sum_j x[b, row, j] w[j, column].
double project(const Tensor& x, const Tensor& w, std::int64_t b, std::int64_t row, std::int64_t column) {
  double result = 0;
  for (std::int64_t j = 0; j < x.dim(2); ++j) result += x.at({b, row, j}) * w.at({j, column});
  return result;
}

/// softmax_k(q' k' / sqrt(S)) for one query, one head, with an additive mask.
std::vector<double> weights_by_loops(const Tensor& q, const Tensor& k, const Tensor& w_q, const Tensor& w_k,
                                     const Tensor& mask, std::int64_t b, std::int64_t query) {
  std::vector<double> weights;
  double total = 0;
  for (std::int64_t key = 0; key < k.dim(1); ++key) {
    double score = 0;
    for (std::int64_t f = 0; f < q.dim(2); ++f) score += project(q, w_q, b, query, f) * project(k, w_k, b, key, f);
    weights.push_back(std::exp(score / std::sqrt(static_cast<double>(q.dim(2))) + mask.at({query, key})));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

/// Lengths differ, as they do from a decoder to an encoder.
TEST_F(MultiHeadAttentionTest, OfOneHeadIsTheFormulaByLoops) {
  const Tensor q = random.normal({2, 3, 4}), k = random.normal({2, 5, 4}), v = random.normal({2, 5, 4});
  const Tensor w_q = random.normal({4, 4}), w_k = random.normal({4, 4}), w_v = random.normal({4, 4});
  const Tensor w_o = random.normal({4, 4}), mask = random.normal({3, 5});
  const AttentionResult bare = multi_head_attention(q, k, v, 1, w_q, w_k, w_v, {}, mask);
  const AttentionResult result = multi_head_attention(q, k, v, 1, w_q, w_k, w_v, w_o, mask);
  ASSERT_EQ(result.y.shape(), q.shape());
  ASSERT_EQ(result.weights.shape(), (Shape{2, 1, 3, 5}));
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::vector<double> weights = weights_by_loops(q, k, w_q, w_k, mask, b, i);
      for (std::int64_t j = 0; j < 5; ++j)
        EXPECT_NEAR(result.weights.at({b, 0, i, j}), weights[static_cast<std::size_t>(j)], 1e-12);
      for (std::int64_t f = 0; f < 4; ++f) {
        double y = 0;
        for (std::int64_t j = 0; j < 5; ++j) y += weights[static_cast<std::size_t>(j)] * project(v, w_v, b, j, f);
        EXPECT_NEAR(bare.y.at({b, i, f}), y, 1e-12);
        EXPECT_NEAR(result.y.at({b, i, f}), project(bare.y, w_o, b, i, f), 1e-12);
      }
    }
}

/// Each head attends over its own columns.
TEST_F(MultiHeadAttentionTest, HeadsDoNotSeeEachOther) {
  const MultiHeadAttention mha(6, random, {.heads = 3, .bias = true});
  for (const NamedTensor& parameter : parameters(mha))
    copy_values(random.normal(parameter.tensor.shape()), parameter.tensor);
  const Tensor q = random.normal({2, 3, 6}), k = random.normal({2, 4, 6}), v = random.normal({2, 4, 6});
  const AttentionResult result = mha(q, k, v);
  Tensors parts;
  for (int head = 0; head < 3; ++head) {
    const SliceIndex columns = range(2 * head, 2 * head + 2);
    const auto part = [&](const Linear& layer, const Tensor& x) { return slice(layer(x), {all, all, columns}); };
    const auto [y, weights] = attention_with_weights(part(mha.query, q), part(mha.key, k), part(mha.value, v));
    EXPECT_LT(difference(slice(result.weights, {all, head}), weights), 1e-12);
    parts.push_back(y);
  }
  EXPECT_LT(difference(result.y, mha.out(concat(parts, -1))), 1e-12);
  EXPECT_LT(difference(sum(result.weights, -1), ones({2, 3, 3})), 1e-12) << "rows of weights sum to 1";
}

TEST_F(MultiHeadAttentionTest, WithACausalMaskOutputsDoNotDependOnLaterInputs) {
  const MultiHeadAttention mha(4, random, {.heads = 2});
  const Tensor x = random.normal({2, 5, 4}), other = random.normal({2, 5, 4});
  const Tensor y = mha(x, causal_mask(5)).y;
  for (std::int64_t t = 0; t < 4; ++t) {
    const Tensor changed = concat({slice(x, {all, range(0, t + 1)}), slice(other, {all, range(t + 1)})}, 1);
    const Tensor after = mha(changed, causal_mask(5)).y;
    const SliceIndex up_to_now = range(0, t + 1);
    EXPECT_TRUE(same_bits(slice(after, {all, up_to_now}), slice(y, {all, up_to_now}))) << t;
    EXPECT_GT(difference(slice(after, {all, t + 1}), slice(y, {all, t + 1})), 1e-3) << t;
  }
}

TEST_F(MultiHeadAttentionTest, AMaskOfThreeAxesIsOneForEachSample) {
  for (const int heads : {1, 2, 3})
    for (const std::int64_t batch : {1, 2, 3}) {
      const MultiHeadAttention mha(6, random, {.heads = heads});
      const Tensor x = random.normal({batch, 4, 6}), of_samples = random.normal({batch, 4, 4}),
                   y = mha(x, of_samples).y;
      EXPECT_TRUE(same_bits(y, mha(x, unsqueeze(of_samples, 1)).y)) << heads << " heads, batch " << batch;
      for (std::int64_t b = 0; b < batch; ++b)
        EXPECT_LT(difference(y[b], mha(slice(x, {range(b, b + 1)}), of_samples[b]).y[0]), 1e-6)
            << heads << " heads, batch " << batch;
    }
}

TEST_F(MultiHeadAttentionTest, MasksOfTheBatchAndOfIntegers) {
  const MultiHeadAttention mha(4, random, {.heads = 2});
  const Tensor x = random.normal({2, 3, 4});
  const Tensor visible = indices({{1, 0, 0}, {1, 1, 0}, {1, 1, 1}});
  EXPECT_TRUE(same_bits(mha(x, visible).y, mha(x, causal_mask(3)).y));
  const Tensor of_batch = stack({unsqueeze(visible, 0), ones({1, 3, 3}, i64)}), y = mha(x, of_batch).y;
  EXPECT_LT(difference(y[0], mha(x, visible).y[0]), 1e-12);
  EXPECT_LT(difference(y[1], mha(x).y[1]), 1e-12);
}

/// One length whose weights are stored, and one whose weights are not.
TEST_F(MultiHeadAttentionTest, WithoutWeightsItGivesTheSameY) {
  const MultiHeadAttention attention(4, random, {.heads = 2});
  for (const std::int64_t length : {5, 200}) {
    const Tensor x = random.normal({2, length, 4}), mask = causal_mask(length);
    EXPECT_TRUE(same_bits(attention.without_weights(x, x, x, mask), attention(x, mask).y)) << length;
    Tape tape;
    attention.without_weights(x, x, x);
    EXPECT_EQ(static_cast<bool>(tape.find("attention")->saved(3)), length == 5);
  }
}

TEST_F(MultiHeadAttentionTest, Errors) {
  const MultiHeadAttention mha(4, random, {.heads = 2});
  const Tensor w = ones({4, 4}), x = ones({2, 3, 4});
  expect_error<ShapeError>([&] { MultiHeadAttention(4, random, {.heads = 3}); },
                           "MultiHeadAttention: 3 heads do not divide 4 features; choose a divisor");
  expect_error<ShapeError>([&] { multi_head_attention(x, x, x, 0, w, w, w); },
                           "multi_head_attention: 0 heads do not divide 4 features; choose a divisor");
  expect_error<ShapeError>([&] { mha(x[0]); },
                           "multi_head_attention: q[3, 4], k[3, 4] and v[3, 4] must be [batch, length, features]; "
                           "reshape them");
  EXPECT_THROW(mha(ones({2, 3, 6})), ShapeError);
  EXPECT_THROW(mha(x, ones({3, 4})), ShapeError);
}

/// Values, weights and gradients of one run, with cotangents of both results.
Tensors results_of(const TapeOptions& tape_options, const AttentionOptions& options) {
  Random random(3);
  const Parameter q(random.normal({2, 4, 6})), k(random.normal({2, 5, 6})), v(random.normal({2, 5, 6}));
  Tape tape(tape_options);
  const auto [y, weights] = attention_with_weights(q, k, v, options);
  EXPECT_EQ(tape.find("attention") == nullptr, tape_options.expand_fused);
  EXPECT_EQ(tape.find("softmax") != nullptr, tape_options.expand_fused);
  tape.backward({y, weights}, {random.normal(y.shape()), random.normal(weights.shape())});
  return {y, weights, q.grad(), k.grad(), v.grad()};
}

TEST_F(MultiHeadAttentionTest, TheFusedOpIsItsComposedTwin) {
  const Tensor added = random.normal({4, 5}), of_heads = random.normal({2, 3, 4, 5});
  const Tensor visible = indices({{1, 1, 1, 1, 1}, {0, 1, 0, 1, 1}, {0, 0, 0, 0, 0}, {1, 0, 1, 0, 1}});
  const std::vector<AttentionOptions> cases{{},
                                            {.heads = 3},
                                            {.heads = 2, .causal = true},
                                            {.heads = 1, .mask = visible},
                                            {.heads = 2, .mask = added},
                                            {.heads = 3, .mask = of_heads},
                                            {.heads = 3, .causal = true, .mask = visible},
                                            {.heads = 3, .causal = true, .mask = of_heads}};
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const Tensors fused = results_of({}, cases[n]), composed = results_of({.expand_fused = true}, cases[n]);
    const char* parts[] = {"y", "weights", "dq", "dk", "dv"};
    for (std::size_t part = 0; part < fused.size(); ++part)
      EXPECT_LT(difference(fused[part], composed[part]), 1e-12) << "case " << n << ", " << parts[part];
  }
}

class CellMemoryTest : public testing::Test {
 protected:
  static CellMemory make(Random& random, std::int64_t input = 3, InitialMemory initial = InitialMemory::identity) {
    return CellMemory(input, random, {.slots = 4, .slot_size = 6, .heads = 2, .initial = initial});
  }
  DtypeScope doubles{f64};
  Random random{5};
};

TEST_F(CellMemoryTest, IsItsFormula) {
  for (const std::int64_t input : {3, 6}) {
    const CellMemory cell = make(random, input);
    for (const Linear* layer : {&*cell.gate, &cell.update}) copy_values(random.normal({6}), *layer->bias);
    const Tensor memory = random.normal({2, 4, 6}), x = random.normal({2, input});
    const Tensor injected = cell.input ? (*cell.input)(x) : x;
    const Tensor slot_0 = stack({injected, zeros({2, 6}), zeros({2, 6}), zeros({2, 6})}, 1);
    const Tensor slots = memory + cell.initial_memory(2);
    const AttentionResult seen = multi_head_attention(slots, slots, slots, 2, cell.w_q, cell.w_k, cell.w_v, cell.w_o);
    const Tensor a = seen.y + slot_0, x_of_slots = broadcast_to(unsqueeze(x, 1), {2, 4, input});
    const Tensor g = sigmoid((*cell.gate)(concat({a, x_of_slots}, -1)));
    const CellMemoryResult result = cell(memory, x);
    EXPECT_LT(difference(result.memory, g * tanh(cell.update(a)) + (1 - g) * memory), 1e-12);
    EXPECT_LT(difference(result.gates, g), 1e-12);
    EXPECT_LT(difference(result.weights, seen.weights), 1e-12);
    EXPECT_EQ(cell.input.has_value(), input != 6);
  }
}

TEST_F(CellMemoryTest, WithoutAnInputTheGateIsOneHalf) {
  const CellMemory cell = make(random, 3, InitialMemory::zeros);
  copy_values(random.normal({6}), *cell.update.bias);
  const Tensor memory = random.normal({2, 4, 6});
  const Tensor a = multi_head_attention(memory, memory, memory, 2, cell.w_q, cell.w_k, cell.w_v, cell.w_o).y;
  const CellMemoryResult result = cell(memory);
  EXPECT_LT(difference(result.memory, 0.5 * tanh(cell.update(a)) + 0.5 * memory), 1e-12);
  EXPECT_TRUE(same_bits(result.gates, full({2, 4, 6}, 0.5)));
  EXPECT_EQ(result.weights.shape(), (Shape{2, 2, 4, 4}));
}

/// The largest difference between slots 1 and 2, 1 and 3 after some steps.
double spread_of_slots(const CellMemory& cell, Random& random) {
  Tensor memory = cell.initial_memory(2);
  for (int step = 0; step < 5; ++step) memory = cell(memory, random.normal({2, 3})).memory;
  const Tensor rest = slice(memory, {all, range(2, 4)}), first = slice(memory, {all, range(1, 2)});
  return max(abs(rest - first)).item();
}

TEST_F(CellMemoryTest, SlotsThatBeginEqualStayEqualForEver) {
  EXPECT_EQ(spread_of_slots(make(random, 3, InitialMemory::zeros), random), 0);
  EXPECT_GT(spread_of_slots(make(random, 3, InitialMemory::identity), random), 1e-2);
}

TEST_F(CellMemoryTest, BeginsWithTheRowsOfTheIdentity) {
  const CellMemory cell = make(random);
  for (const Tensor& memory : {cell.initial_memory(2)[0], cell.initial_memory(2)[1]})
    EXPECT_TRUE(same_bits(memory, eye(4, 6)));
  EXPECT_FALSE(cell.initial_memory(2).wants_gradient());
}

/// The terms computed for all steps at once equal those of the single steps, in value and in gradient.
TEST_F(CellMemoryTest, ProjectingAllStepsAtOnceChangesNothing) {
  const CellMemory cell = make(random);
  const Tensor x = random.normal({2, 5, 3}), u = random.normal({2, 4, 6});
  std::vector<Tensors> gradients;
  Tensors memories;
  for (const bool hoisted : {false, true}) {
    zero_grad(cell);
    Tape tape;
    Tensor memory = cell.initial_memory(2);
    const ProjectedInput whole = hoisted ? cell.project(x) : ProjectedInput{};
    for (std::int64_t t = 0; t < 5; ++t)
      memory = hoisted
                   ? cell.step(memory, {at_step(whole.injected, t), at_step(whole.gate, t), whole.gate_of_slots}).memory
                   : cell(memory, at_step(x, t)).memory;
    tape.backward({memory}, {u});
    memories.push_back(memory);
    gradients.emplace_back();
    for (const NamedTensor& parameter : parameters(cell)) gradients.back().push_back(parameter.tensor.grad().clone());
  }
  EXPECT_LT(difference(memories[0], memories[1]), 1e-12);
  for (std::size_t p = 0; p < gradients[0].size(); ++p)
    EXPECT_LT(difference(gradients[0][p], gradients[1][p]), 1e-12) << parameters(cell)[p].name;
}

TEST_F(CellMemoryTest, WrongShapesNameTheModule) {
  const CellMemory cell = make(random);
  const char* rest = " must be [batch, 4, 6]; begin with initial_memory(batch)";
  expect_error<ShapeError>([&] { cell(zeros({2, 3, 6})); }, text("CellMemory: the memory [2, 3, 6]", rest));
  expect_error<ShapeError>([&] { cell(zeros({4, 6}), zeros({2, 3})); }, text("CellMemory: the memory [4, 6]", rest));
  expect_error<ShapeError>(
      [&] {
        cell(zeros({2, 4, 6}), zeros({1, 3}));
      },
      "CellMemory: the input [1, 3] must be [2, 3]; reshape it");
  expect_error<ShapeError>(
      [&] { CellMemory(3, random, {.slots = 2, .slot_size = 5, .heads = 2}); },
      "CellMemory: 2 slots of 5 with 2 heads; at least one slot, and heads that divide its size, are needed");
}

}  // namespace
}  // namespace retrace
