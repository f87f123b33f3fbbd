// RelationalMemory: against its formula in other ops, its initial weights, gradients and errors.
#include <retrace/nn/memory/relational_memory.h>

#include <retrace/tests/nn/memory/memory_test.h>

namespace retrace {
namespace {

/// (x - mean) / sqrt(var + eps) gain + offset over the last axis.
Tensor normalised(const Tensor& x, const LayerNorm& norm) {
  const Tensor centred = x - mean(x, -1, {.keepdims = true});
  const Tensor variance = mean(square(centred), -1, {.keepdims = true});
  return centred / sqrt(variance + norm.eps) * norm.weight + norm.bias;
}

using RelationalMemoryTest = MemoryTest;

TEST_F(RelationalMemoryTest, GatedUpdateMixesElementByElement) {
  const Tensor old = random.normal({2, 3, 4}), next = random.normal({2, 3, 4}), w = random.normal({8, 4});
  const Tensor y = gated_update(old, next, w);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t n = 0; n < 3; ++n)
      for (std::int64_t s = 0; s < 4; ++s) {
        double z = 0;
        for (std::int64_t j = 0; j < 4; ++j)
          z += old.at({b, n, j}) * w.at({j, s}) + next.at({b, n, j}) * w.at({4 + j, s});
        const double g = 1 / (1 + std::exp(-z));
        EXPECT_NEAR(y.at({b, n, s}), g * next.at({b, n, s}) + (1 - g) * old.at({b, n, s}), 1e-14);
      }
  const auto f = [](const Tensors& in) { return Tensors{gated_update(in[0], in[1], in[2])}; };
  const GradcheckResult result = gradcheck(f, {old, next, w}, {.names = {"old", "next", "weight"}});
  EXPECT_TRUE(result.passed()) << result;
}

TEST_F(RelationalMemoryTest, GatedUpdateWithoutAWeightIsTheNewMemory) {
  const Tensor old = random.normal({2, 3, 4}), next = random.normal({2, 3, 4});
  EXPECT_TRUE(same_bits(gated_update(old, next), next));
  EXPECT_LT(difference(gated_update(old, old, random.normal({8, 4})), old), 1e-12) << "there is nothing to mix";
  EXPECT_THROW(gated_update(old, next, random.normal({4, 4})), ShapeError);
  expect_error<ShapeError>(
      [&] {
        gated_update(old, zeros({2, 3, 5}));
      },
      "gated_update: old[2, 3, 4] and next[2, 3, 5] must have one shape; reshape one");
}

/// With a logit of +-1000 a gate is 0 or 1, and neither the gate nor its gradient is NaN.
TEST_F(RelationalMemoryTest, GatedUpdateSaturatesWithoutOverflow) {
  const Tensor old = ones({1, 1, 2}).watch(), next = full({1, 1, 2}, 3).watch(), u = random.normal({1, 1, 2});
  const Tensor open = full({4, 2}, 250), shut = full({4, 2}, -250);
  EXPECT_TRUE(same_bits(gated_update(old, next, open), next));
  EXPECT_TRUE(same_bits(gated_update(old, next, shut), old));
  Tape tape;
  tape.backward({gated_update(old, next, shut)}, {u});
  EXPECT_LT(difference(old.grad(), u), 1e-12);
  EXPECT_LT(difference(next.grad(), zeros({1, 1, 2})), 1e-12);
}

TEST_F(RelationalMemoryTest, AnInitialMemoryIsDrawnForEverySampleAndEveryCall) {
  const Tensor memory = init_memory(50, 8, 16, random);
  ASSERT_EQ(memory.shape(), (Shape{50, 8, 16}));
  EXPECT_NEAR(deviation_of(memory), 0.1, 0.005);
  EXPECT_NEAR(mean(memory).item(), 0, 0.005);
  EXPECT_GT(difference(memory[0], memory[1]), 0.01);
  EXPECT_GT(difference(init_memory(50, 8, 16, random), memory), 0.01);
  Random again{7};
  EXPECT_TRUE(same_bits(init_memory(50, 8, 16, again), memory)) << "the generator decides, nothing else";
  EXPECT_NEAR(deviation_of(init_memory(50, 8, 16, random, 2.0)), 2, 0.1);
}

TEST_F(RelationalMemoryTest, AFreshMemoryHasTheShapeAndTheDtypeOfTheModule) {
  const RelationalMemory m(3, random, {.slots = 5, .slot_size = 6, .heads = 2});
  EXPECT_EQ(m.reset_memory(4, random).shape(), (Shape{4, 5, 6}));
  to(m, f32);
  const Tensor memory = m.reset_memory(4, random);
  EXPECT_EQ(memory.dtype(), f32);
  EXPECT_EQ(m(memory, random.normal({4, 3}, f32)).memory.dtype(), f32);
}

/// Inputs of another size than the slots, of their size, and none.
TEST_F(RelationalMemoryTest, IsItsFormula) {
  for (const std::int64_t features : {3, 6, 0}) {
    const RelationalMemory m(features == 0 ? 3 : features, random, {.slots = 4, .slot_size = 6, .heads = 2});
    scatter(m, random);
    const Tensor memory = random.normal({2, 4, 6}), x = features == 0 ? Tensor() : random.normal({2, features});
    Tensor slots = normalised(memory + attended(memory, 2, m), m.norm);
    if (features != 0) {
      const Tensor u = features == 6 ? x : matmul(x, *m.w_input);
      slots = normalised(slots + matmul(concat({slots, stack({u, u, u, u}, 1)}, -1), *m.w_combine), *m.input_norm);
    }
    const RelationalMemoryResult result = m(memory, x);
    EXPECT_LT(difference(result.memory, gated_update(memory, slots, *m.w_gate)), 1e-12) << features << " features";
    EXPECT_LT(difference(result.gates, sigmoid(matmul(concat({memory, slots}, -1), *m.w_gate))), 1e-12);
    EXPECT_EQ(result.weights.shape(), (Shape{2, 2, 4, 4}));
    EXPECT_LT(difference(sum(result.weights, -1), ones({2, 2, 4})), 1e-12);
    EXPECT_EQ(m.w_input.has_value(), features != 6);
  }
}

TEST_F(RelationalMemoryTest, WithoutGateAndInputOnlyTheNormalisedSlotsAreLeft) {
  const RelationalMemory m(3, random,
                           {.slots = 4, .slot_size = 6, .heads = 3, .input = MemoryInput::none, .gate = false});
  scatter(m, random);
  const Tensor memory = random.normal({2, 4, 6});
  const RelationalMemoryResult result = m(memory, random.normal({2, 3}));
  EXPECT_LT(difference(result.memory, normalised(memory + attended(memory, 3, m), m.norm)), 1e-12);
  EXPECT_FALSE(result.gates.defined());
  EXPECT_EQ(count_parameters(m), 4 * 36 + 2 * 6);
}

TEST_F(RelationalMemoryTest, CrossAttentionReadsTheRowsOfItsInput) {
  const RelationalMemory m(3, random, {.slots = 4, .slot_size = 6, .heads = 2, .input = MemoryInput::cross_attention});
  scatter(m, random);
  const Tensor memory = random.normal({2, 4, 6}), x = random.normal({2, 5, 3}), u = matmul(x, *m.w_input);
  Tensor slots = normalised(memory + attended(memory, 2, m), m.norm);
  slots = normalised(slots + (*m.cross)(slots, u, u).y, *m.input_norm);
  EXPECT_LT(difference(m(memory, x).memory, gated_update(memory, slots, *m.w_gate)), 1e-12);
  const Tensor shuffled = take(x, indices({4, 1, 0, 3, 2}), 1), one_row = slice(x, {all, 2});
  EXPECT_LT(difference(m(memory, shuffled).memory, m(memory, x).memory), 1e-12) << "rows have no order";
  EXPECT_TRUE(same_bits(m(memory, one_row).memory, m(memory, unsqueeze(one_row, 1)).memory));
}

/// Slots are distinguished by their contents, not by their positions.
TEST_F(RelationalMemoryTest, PermutedSlotsGiveThePermutedMemory) {
  const RelationalMemory m(3, random, {.slots = 4, .slot_size = 6, .heads = 3});
  const Tensor memory = random.normal({2, 4, 6}), x = random.normal({2, 3}), order = indices({2, 0, 3, 1});
  EXPECT_LT(difference(m(take(memory, order, 1), x).memory, take(m(memory, x).memory, order, 1)), 1e-12);
}

TEST_F(RelationalMemoryTest, OwnsAllItsWeightsFromTheStart) {
  constexpr std::int64_t i = 5, s = 6;
  const RelationalMemory m(i, random, {.slots = 4, .slot_size = s, .heads = 2});
  EXPECT_EQ(count_parameters(m), 4 * s * s + 2 * s * s + 2 * s * s + i * s + 4 * s);
  EXPECT_EQ(count_parameters(RelationalMemory(s, random, {.slots = 4, .slot_size = s, .heads = 2})), 8 * s * s + 4 * s);
  const std::string before = weights_hash(m);
  const Tensor memory = random.normal({2, 4, s}), x = random.normal({2, i});
  EXPECT_TRUE(same_bits(m(memory, x).memory, m(memory, x).memory)) << "a run draws nothing";
  EXPECT_EQ(weights_hash(m), before);
}

TEST_F(RelationalMemoryTest, WeightsBeginWithTheirDeviations) {
  const RelationalMemory m(32, random, {.slots = 4, .slot_size = 64});
  for (const Parameter* w : {&m.w_q, &m.w_k, &m.w_v, &m.w_o}) EXPECT_NEAR(deviation_of(*w), std::sqrt(1.0 / 64), 5e-3);
  EXPECT_NEAR(deviation_of(*m.w_input), std::sqrt(2.0 / 96), 8e-3);
  for (const Parameter* w : {&*m.w_combine, &*m.w_gate}) EXPECT_NEAR(deviation_of(*w), std::sqrt(2.0 / 192), 5e-3);
  for (const LayerNorm* norm : {&m.norm, &*m.input_norm}) {
    EXPECT_TRUE(same_bits(norm->weight, ones({64})) && same_bits(norm->bias, zeros({64})));
    EXPECT_EQ(norm->eps, 1e-6);
  }
}

TEST_F(RelationalMemoryTest, GradientsGoBackThroughTwoSteps) {
  const Tensor x = random.normal({2, 3}), begin = random.normal({2, 3, 4});
  for (const MemoryInput kind : {MemoryInput::combination, MemoryInput::cross_attention}) {
    const RelationalMemory m(3, random, {.slots = 3, .slot_size = 4, .heads = 2, .input = kind});
    const auto f = [&](const RelationalMemory& module) { return module(module(begin, x).memory, x).memory; };
    const GradcheckResult result = gradcheck(m, f);
    EXPECT_TRUE(result.passed()) << result;
  }
}

TEST_F(RelationalMemoryTest, WrongShapesNameTheModule) {
  const RelationalMemory m(3, random, {.slots = 4, .slot_size = 6, .heads = 2});
  const char* rest = " must be [batch, 4, 6]; begin with reset_memory(batch, random)";
  expect_error<ShapeError>([&] { m(zeros({2, 3, 6})); }, text("RelationalMemory: the memory [2, 3, 6]", rest));
  expect_error<ShapeError>([&] { m(zeros({4, 6})); }, text("RelationalMemory: the memory [4, 6]", rest));
  for (const Shape& shape : {Shape{2, 6}, Shape{1, 3}, Shape{2, 5, 3}})
    expect_error<ShapeError>(
        [&] {
          m(zeros({2, 4, 6}), zeros(shape));
        },
        text("RelationalMemory: the input ", shape, " must be [2, 3]; reshape it"));
  expect_error<ShapeError>(
      [&] { RelationalMemory(3, random, {.slots = 2, .slot_size = 6, .heads = 4}); },
      "RelationalMemory: 2 slots of 6 with 4 heads; at least one slot, and heads that divide its size, are needed");
}

}  // namespace
}  // namespace retrace
