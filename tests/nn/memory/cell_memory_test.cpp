// CellMemory: its gradients, and slots that are initially equal.
#include <retrace/nn/memory/cell_memory.h>

#include <retrace/tests/nn/memory/memory_test.h>

namespace retrace {
namespace {

using CellMemoryGradients = MemoryTest;

TEST_F(CellMemoryGradients, GoBackThroughThreeStepsWithAndWithoutInputs) {
  for (const std::int64_t features : {3, 4}) {
    const CellMemory cell(features, random, {.slots = 3, .slot_size = 4, .heads = 2});
    const Tensor x = random.normal({2, features});
    const auto f = [&](const CellMemory& m) { return m(m(m(m.initial_memory(2), x).memory).memory, x).memory; };
    const GradcheckResult result = gradcheck(cell, f);
    EXPECT_TRUE(result.passed()) << result;
  }
}

TEST_F(CellMemoryGradients, GoBackThroughThreeStepsWithoutAGate) {
  for (const std::int64_t features : {3, 4}) {
    const CellMemory cell(features, random, {.slots = 3, .slot_size = 4, .heads = 2, .gate = false});
    const Tensor x = random.normal({2, features});
    const auto f = [&](const CellMemory& m) { return m(m(m(m.initial_memory(2), x).memory).memory, x).memory; };
    const GradcheckResult result = gradcheck(cell, f);
    EXPECT_TRUE(result.passed()) << result;
  }
}

/// The update that a fully open gate lets through.
TEST_F(CellMemoryGradients, WithoutAGateTheMemoryIsTheUpdate) {
  const CellMemory gated(3, random, {.slots = 3, .slot_size = 4, .heads = 2});
  CellMemory open = clone(gated), without = clone(gated);
  copy_values(full({4}, 100), *open.gate->bias);
  without.gate.reset();
  const Tensor memory = random.normal({2, 3, 4}), x = random.normal({2, 3});
  EXPECT_LT(difference(without(memory, x).memory, open(memory, x).memory), 1e-12);
  EXPECT_FALSE(without(memory, x).gates.defined() || without(memory).gates.defined());
  const CellMemory built(3, random, {.slots = 3, .slot_size = 4, .heads = 2, .gate = false});
  EXPECT_EQ(count_parameters(built), count_parameters(gated) - (4 + 3 + 1) * 4);
}

/// With zeros as initial memory and without biases, only slot 0 is not zero after the first step.
TEST_F(CellMemoryGradients, FromZerosOnlyTheFirstSlotTakesInTheFirstInput) {
  const CellMemory cell(3, random, {.slots = 4, .slot_size = 6, .initial = InitialMemory::zeros});
  const Tensor memory = cell(cell.initial_memory(2), random.normal({2, 3})).memory;
  EXPECT_TRUE(same_bits(slice(memory, {all, range(1)}), zeros({2, 3, 6})));
  EXPECT_GT(norm(slice(memory, {all, 0})).item(), 0.1);
}

/// The largest difference between slots 1 and 2 after some steps with the same input.
double apart_after(std::int64_t steps, InitialMemory initial) {
  Random random(5);
  const CellMemory memory(3, random, {.slots = 3, .slot_size = 8, .heads = 2, .initial = initial});
  const Tensor x = random.normal({2, 3});
  Tensor slots = memory.initial_memory(2);
  for (std::int64_t t = 0; t < steps; ++t) slots = memory(slots, x).memory;
  return difference(slice(slots, {all, 1}), slice(slots, {all, 2}));
}

TEST(CellMemory, SlotsStayApartHoweverLongTheSequence) {
  EXPECT_EQ(apart_after(100, InitialMemory::zeros), 0);
  EXPECT_GT(apart_after(1, InitialMemory::identity), 0.01);
  EXPECT_GT(apart_after(100, InitialMemory::identity), 0.01);
}

}  // namespace
}  // namespace retrace
