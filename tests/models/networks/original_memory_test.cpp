// The original programs' checks of the relational memory.
#include <retrace/tests/models/networks/original_test.h>

#include <array>

namespace retrace {
namespace {

using OriginalRelationalMemory = OriginalTest;

// ---- relational memory: batch 2, inputs of 32

TEST_F(OriginalRelationalMemory, LayerNormHasZeroMeanAndUnitDeviation) {
  const Tensor x = random.normal({2, 4, 64}) * 2 + 3, y = layer_norm(x, {}, {}, {.eps = 1e-6});
  EXPECT_LT(difference(mean(y, -1), zeros({2, 4})), 1e-6);
  EXPECT_LT(difference(sqrt(var(y, -1)), ones({2, 4})), 1e-6);
}

TEST_F(OriginalRelationalMemory, LayerNormWithGammaTwoAndBetaOneHalf) {
  const Tensor x = random.normal({2, 4, 64}) * 2 + 3;
  const Tensor y = layer_norm(x, full({64}, 2), full({64}, 0.5), {.eps = 1e-6});
  EXPECT_LT(difference(mean(y, -1), full({2, 4}, 0.5)), 1e-6);
  EXPECT_LT(difference(sqrt(var(y, -1)), full({2, 4}, 2)), 2e-6);
}

TEST_F(OriginalRelationalMemory, TheGateMixesOldAndNew) {
  const Tensor old = zeros({2, 4, 64}), next = ones({2, 4, 64});
  const Tensor y = gated_update(old, next, random.normal({128, 64}, 0, 0.1));
  EXPECT_EQ(y.shape(), old.shape());
  EXPECT_GT(min(y).item(), 0);
  EXPECT_LT(max(y).item(), 1);
  EXPECT_EQ(difference(gated_update(old, next), next), 0) << "without a gate";
}

TEST_F(OriginalRelationalMemory, TheInitialMemoryIsSmallAndNotConstant) {
  const Tensor memory = init_memory(2, 4, 64, random);
  EXPECT_EQ(memory.shape(), (Shape{2, 4, 64}));
  EXPECT_GT(deviation_of(memory), 0.05);
  EXPECT_LT(deviation_of(memory), 0.2);
}

TEST_F(OriginalRelationalMemory, RunsInEveryConfiguration) {
  for (const auto& [slots, size, heads] : {std::array{4, 64, 2}, {8, 64, 4}, {4, 128, 8}, {16, 32, 2}}) {
    const RelationalMemory memory(32, random, {.slots = slots, .slot_size = size, .heads = heads});
    const Tensor before = memory.reset_memory(2, random), x = random.normal({2, 32});
    const RelationalMemoryResult result = memory(before, x);
    EXPECT_EQ(result.memory.shape(), (Shape{2, slots, size}));
    ASSERT_EQ(result.weights.shape(), (Shape{2, heads, slots, slots}));
    EXPECT_LT(difference(sum(result.weights, -1), ones({2, heads, slots})), 1e-6);
    EXPECT_TRUE(all_finite(result.memory));
  }
}

TEST_F(OriginalRelationalMemory, AnInputChangesTheMemory) {
  const RelationalMemory memory(32, random, {.slots = 4, .heads = 2});
  const Tensor begin = memory.reset_memory(2, random), x = random.normal({2, 32});
  EXPECT_GT(difference(memory(begin, x).memory, memory(begin).memory), 1e-3);
  EXPECT_GT(difference(memory(begin, x).memory, memory(begin, random.normal({2, 32})).memory), 1e-3);
}

TEST_F(OriginalRelationalMemory, TheMemoryEvolvesOverSteps) {
  const RelationalMemory memory(32, random, {.slots = 4, .heads = 2});
  Tensor now = memory.reset_memory(2, random);
  for (int step = 0; step < 5; ++step) {
    const Tensor next = memory(now, random.normal({2, 32})).memory;
    EXPECT_GT(difference(next, now), 1e-3) << "step " << step;
    EXPECT_TRUE(all_finite(next));
    now = next;
  }
}

TEST_F(OriginalRelationalMemory, WithoutAGateTheMemoryIsReplaced) {
  const RelationalMemory memory(32, random, {.slots = 4, .heads = 2, .gate = false});
  const Tensor begin = memory.reset_memory(2, random), x = random.normal({2, 32});
  const RelationalMemoryResult result = memory(begin, x);
  EXPECT_FALSE(result.gates.defined());
  EXPECT_LT(difference(mean(result.memory, -1), zeros({2, 4})), 1e-6) << "what the last layer norm gave";
}

}  // namespace
}  // namespace retrace
