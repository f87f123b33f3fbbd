// NotebookMemory: against its formula in other ops, its gradients and errors.
#include <retrace/nn/memory/notebook_memory.h>

#include <retrace/tests/nn/memory/memory_test.h>

namespace retrace {
namespace {

using NotebookMemoryTest = MemoryTest;

TEST_F(NotebookMemoryTest, IsItsFormula) {
  const NotebookMemory m(random, {.slots = 3, .slot_size = 6, .heads = 2});
  EXPECT_NEAR(deviation_of(m.w_q), 0.1, 0.03);
  EXPECT_EQ(count_parameters(m), 4 * 36 + (72 + 12) + (72 + 6) + 3 * (36 + 6));
  scatter(m, random);
  const Tensor memory = random.normal({2, 3, 6}), x = random.normal({2, 6}),
               rows = concat({memory, unsqueeze(x, 1)}, 1);
  const Tensor y = m.mlp_out(maximum(m.mlp_hidden(attended(rows, 2, m) + rows), zeros({})));
  const Tensor c = slice(y, {all, range(0, 3)});
  const Tensor i = sigmoid(m.input_gate(c)), f = sigmoid(m.forget_gate(c)), o = sigmoid(m.output_gate(c));
  const NotebookMemoryResult result = m(memory, x);
  EXPECT_LT(difference(result.memory, o * tanh(f * memory + i * tanh(c))), 1e-12);
  EXPECT_LT(difference(result.y, slice(y, {all, 3})), 1e-12);
  EXPECT_LT(difference(sum(result.weights, -1), ones({2, 2, 4})), 1e-12);
}

/// Gradients through two steps, of the memory and the answer; no finite difference straddles a kink.
TEST_F(NotebookMemoryTest, GradientsGoBackThroughTwoSteps) {
  const NotebookMemory m(random, {.slots = 2, .slot_size = 4, .heads = 2});
  scatter(m, random);
  const Tensor x = random.normal({2, 4}), begin = random.normal({2, 2, 4});
  const auto f = [&](const NotebookMemory& module) {
    const NotebookMemoryResult second = module(module(begin, x).memory, x);
    return concat({second.memory, unsqueeze(second.y, 1)}, 1);
  };
  const GradcheckResult result = gradcheck(m, f, {.step = 1e-3});
  EXPECT_TRUE(result.passed()) << result;
}

TEST_F(NotebookMemoryTest, WrongShapesNameTheModule) {
  const NotebookMemory m(random, {.slots = 3, .slot_size = 6, .heads = 2});
  expect_error<ShapeError>(
      [&] {
        m(zeros({2, 3, 6}), zeros({2, 5}));
      },
      "NotebookMemory: the memory [2, 3, 6] and the input [2, 5] must be [batch, 3, 6] and "
      "[batch, 6]; reshape them");
  EXPECT_THROW(m(zeros({2, 4, 6}), zeros({2, 6})), ShapeError);
  EXPECT_THROW(m(zeros({2, 3, 6}), zeros({1, 6})), ShapeError);
  EXPECT_THROW(NotebookMemory(random, {.slots = 0, .slot_size = 6, .heads = 2}), ShapeError);
}

}  // namespace
}  // namespace retrace
