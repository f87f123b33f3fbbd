// The relational memory core: the tests of its first implementation, and consequences of its formula.
#include <retrace/nn/memory/relational_memory_core.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <retrace/tests/nn/memory/memory_test.h>

namespace retrace {
namespace {

using RelationalMemoryCoreTest = MemoryTest;

TEST_F(RelationalMemoryCoreTest, TheStateIsSlotsTimesHeadsTimesHeadSize) {
  const RelationalMemoryCore core(5, random, {.slots = 4, .head_size = 32, .heads = 1});
  EXPECT_EQ(core.slot_size(), 32);
  const Tensor memory = core.initial_memory(2);
  EXPECT_EQ(memory.shape(), (Shape{2, 4, 32}));
  const Tensor next = core(memory, random.normal({2, 5})).memory;
  EXPECT_EQ(next.shape(), memory.shape());
  EXPECT_EQ(reshape(next, {2, 4 * 32}).shape(), (Shape{2, 128})) << "the output: the memory, flattened";
}

/// A batch of 5 with 3 rows of 3 features: as one vector of 9, and as a matrix.
TEST_F(RelationalMemoryCoreTest, TakesVectorsAndMatrices) {
  const Tensor x = random.normal({5, 3, 3});
  const RelationalMemoryCore of_vectors(9, random, {.slots = 4, .head_size = 32, .heads = 2});
  const RelationalMemoryCoreResult flat = of_vectors(of_vectors.initial_memory(5), reshape(x, {5, 9}));
  EXPECT_EQ(flat.memory.shape(), (Shape{5, 4, 64}));
  EXPECT_EQ(flat.weights.shape(), (Shape{5, 2, 4, 5}));
  const RelationalMemoryCore of_matrices(3, random, {.slots = 4, .head_size = 32, .heads = 2, .input_rows = 3});
  const RelationalMemoryCoreResult rows = of_matrices(of_matrices.initial_memory(5), x);
  EXPECT_EQ(rows.memory.shape(), (Shape{5, 4, 64}));
  EXPECT_EQ(rows.weights.shape(), (Shape{5, 2, 4, 7}));
  EXPECT_EQ(of_matrices.gate_of_input->weight.shape(), (Shape{128, 3 * 64})) << "the gates read all rows at once";
}

struct Sizes {
  std::int64_t slots, head_size;
  int heads;
};

TEST_F(RelationalMemoryCoreTest, RunsTwoStepsOfFiveBlocksAtEverySize) {
  for (const Sizes& n : {Sizes{2, 2, 1}, Sizes{4, 4, 2}, Sizes{8, 8, 3}, Sizes{16, 16, 4}}) {
    const RelationalMemoryCore core(3, random,
                                    {.slots = n.slots, .head_size = n.head_size, .heads = n.heads, .blocks = 5});
    Tape tape;
    const Tensor first = core(core.initial_memory(2), random.normal({2, 3})).memory;
    const Tensor second = core(first, random.normal({2, 3})).memory;
    ASSERT_EQ(second.shape(), (Shape{2, n.slots, n.heads * n.head_size}));
    EXPECT_GT(difference(second, first), 1e-3);
    tape.backward({second}, {random.normal(second.shape())});
    for (const NamedTensor& parameter : parameters(core))
      EXPECT_TRUE(std::isfinite(norm(parameter.tensor.grad()).item())) << parameter.name;
  }
}

TEST_F(RelationalMemoryCoreTest, RefusesBadArguments) {
  const auto expect = [&](const RelationalMemoryCoreOptions& options, const char* message) {
    expect_error<ValueError>([&] { RelationalMemoryCore(3, random, options); },
                             text("RelationalMemoryCore: ", message));
  };
  expect({.blocks = 0}, "blocks is 0; it has to be 1 or more");
  expect({.mlp_layers = -1}, "mlp_layers is -1; give 0 for no MLP, or more");
  expect({.slots = 0}, "slots is 0; it has to be 1 or more");
  expect({.head_size = -1}, "head_size is -1; it has to be 1 or more");
  expect({.heads = 0}, "heads is 0; it has to be 1 or more");
  expect({.input_rows = 0}, "input_rows is 0; it has to be 1 or more");
  expect({.key_size = -2}, "key_size is -2; give 0 for that of the heads, or more");
}

TEST_F(RelationalMemoryCoreTest, RefusesWrongShapes) {
  const RelationalMemoryCore core(3, random, {.slots = 4, .head_size = 2, .heads = 2});
  const RelationalMemoryCore of_matrices(3, random, {.slots = 4, .head_size = 2, .heads = 2, .input_rows = 2});
  const Tensor memory = core.initial_memory(2);
  expect_error<ShapeError>(
      [&] {
        core(memory, zeros({2, 5}));
      },
      "RelationalMemoryCore: the input [2, 5] must be [batch, 3]; reshape it");
  expect_error<ShapeError>(
      [&] {
        core(zeros({2, 4, 5}), zeros({2, 3}));
      },
      "RelationalMemoryCore: the memory [2, 4, 5] must be [batch, 4, 4]; begin with "
      "initial_memory(batch)");
  expect_error<ShapeError>(
      [&] {
        of_matrices(memory, zeros({2, 3}));
      },
      "RelationalMemoryCore: the input [2, 3] must be [batch, 2, 3]; reshape it");
  EXPECT_THROW(of_matrices(memory, zeros({2, 4, 3})), ShapeError);
  EXPECT_THROW(core(memory, zeros({1, 3})), ShapeError) << "another batch than the memory's";
}

TEST_F(RelationalMemoryCoreTest, GatesAreOnePerElementOrOnePerSlot) {
  for (const MemoryGate gate : {MemoryGate::unit, MemoryGate::memory}) {
    const RelationalMemoryCore core(3, random, {.slots = 4, .head_size = 5, .heads = 2, .gate = gate});
    const RelationalMemoryCoreResult result = core(core.initial_memory(6), random.normal({6, 3}));
    const Shape expected{6, 4, gate == MemoryGate::unit ? 10 : 1};
    EXPECT_EQ(result.input_gate.shape(), expected);
    EXPECT_EQ(result.forget_gate.shape(), expected);
    EXPECT_GT(mean(result.forget_gate).item(), mean(result.input_gate).item()) << "the forget gate's bias is 1";
  }
}

TEST_F(RelationalMemoryCoreTest, WithoutGatesTheMemoryIsTheCandidate) {
  const RelationalMemoryCore core(3, random, {.slots = 4, .head_size = 4, .heads = 2, .gate = MemoryGate::none});
  const Tensor memory = core.initial_memory(2);
  const RelationalMemoryCoreResult result = core(memory, random.normal({2, 3}));
  EXPECT_FALSE(result.input_gate.defined() || result.forget_gate.defined());
  EXPECT_GT(difference(result.memory, memory), 0.1);
  EXPECT_LT(difference(mean(result.memory, -1), zeros({2, 4})), 1e-12) << "rows of a layer norm, not squashed";
  EXPECT_LT(difference(var(result.memory, -1), ones({2, 4})), 1e-3);
}

/// The candidate is multiplied by exactly 0 and the memory by exactly 1; no gradient becomes NaN.
TEST_F(RelationalMemoryCoreTest, InfiniteBiasesKeepTheMemoryBitForBit) {
  constexpr double forever = std::numeric_limits<double>::infinity();
  for (const MemoryGate gate : {MemoryGate::unit, MemoryGate::memory}) {
    const RelationalMemoryCore core(
        3, random,
        {.slots = 4, .head_size = 4, .heads = 2, .gate = gate, .forget_bias = forever, .input_bias = -forever});
    const Tensor begin = random.normal({2, 4, 8}).watch(), u = random.normal({2, 4, 8});
    Tape tape;
    Tensor memory = begin;
    for (int step = 0; step < 3; ++step) memory = core(memory, random.normal({2, 3})).memory;
    EXPECT_TRUE(same_bits(memory, begin));
    tape.backward({memory}, {u});
    EXPECT_TRUE(same_bits(begin.grad(), u));
    for (const NamedTensor& parameter : parameters(core))
      EXPECT_EQ(norm(parameter.tensor.grad()).item(), 0) << parameter.name;
  }
}

TEST_F(RelationalMemoryCoreTest, KeysMayHaveASizeOfTheirOwn) {
  const RelationalMemoryCore core(3, random, {.slots = 4, .head_size = 32, .heads = 2, .key_size = 128});
  EXPECT_EQ(core.blocks[0].qkv.weight.shape(), (Shape{2 * (128 + 128 + 32), 64}));
  EXPECT_EQ(core(core.initial_memory(2), random.normal({2, 3})).memory.shape(), (Shape{2, 4, 64}));
}

/// One block, composed of slices and products: columns are [q k v] head by head, scores are divided by sqrt(key_size),
/// layer norms run over single rows, and no ReLU follows the last layer of the MLP.
TEST_F(RelationalMemoryCoreTest, IsItsFormula) {
  const RelationalMemoryCore core(3, random, {.slots = 3, .head_size = 2, .heads = 2, .key_size = 5});
  scatter(core, random);
  const Tensor memory = random.normal({2, 3, 4}), x = random.normal({2, 3}), u = core.input(x);
  const RelationalMemoryBlock& block = core.blocks[0];
  const Tensor rows = concat({memory, unsqueeze(u, 1)}, 1), z = (*block.qkv_norm)(block.qkv(rows));
  const RelationalMemoryCoreResult result = core(memory, x);
  Tensors heads;
  for (int head = 0; head < 2; ++head) {
    const Tensors qkv = split(slice(z, {all, all, range(12 * head, 12 * head + 12)}), {5, 5, 2}, -1);
    const Tensor weights = softmax(matmul(qkv[0], qkv[1], {.transpose_b = true}) / std::sqrt(5.0));
    EXPECT_LT(difference(slice(result.weights, {all, head}), slice(weights, {all, range(0, 3)})), 1e-12);
    heads.push_back(matmul(weights, qkv[2]));
  }
  const Tensor a = (*block.attention_norm)(rows + concat(heads, -1));
  const Tensor m = slice((*block.mlp_norm)(core.mlp[1](relu(core.mlp[0](a))) + a), {all, range(0, 3)});
  const Tensors gates =
      split((*core.gate_of_memory)(tanh(memory)) + unsqueeze((*core.gate_of_input)(u), 1), {4, 4}, -1);
  EXPECT_LT(difference(result.memory, sigmoid(gates[0]) * tanh(m) + sigmoid(gates[1] + 1) * memory), 1e-12);
}

/// The memory after two steps, and the gradient of every parameter and of the input, with or without computing the
/// rows of the input in the last block.
Tensors two_steps(RelationalMemoryCore core, const Tensor& x, const Tensor& u, bool memory_rows_only) {
  core.options.memory_rows_only = memory_rows_only;
  const Tensor input = x.clone().watch();
  Tape tape;
  const Tensor first = core(core.initial_memory(x.dim(0)), input).memory;
  const RelationalMemoryCoreResult second = core(first, input);
  tape.backward({second.memory}, {u});
  Tensors results{second.memory, slice(second.weights, {all, all, range(0, core.options.slots)}), input.grad()};
  for (const NamedTensor& parameter : parameters(core)) results.push_back(parameter.tensor.grad());
  return results;
}

TEST_F(RelationalMemoryCoreTest, MemoryRowsAloneAreTheMemoryRowsOfTheFullStep) {
  for (const int blocks : {1, 3})
    for (const std::int64_t input_rows : {1, 2}) {
      const RelationalMemoryCore core(
          3, random, {.slots = 4, .head_size = 3, .heads = 2, .blocks = blocks, .input_rows = input_rows});
      scatter(core, random);
      const Tensor x = random.normal(input_rows == 1 ? Shape{2, 3} : Shape{2, input_rows, 3});
      const Tensor u = random.normal({2, 4, 6});
      const Tensors alone = two_steps(clone(core), x, u, true), full = two_steps(clone(core), x, u, false);
      for (std::size_t k = 0; k < full.size(); ++k)
        EXPECT_LT(difference(alone[k], full[k]), 1e-11) << blocks << " blocks, result " << k;
    }
}

TEST_F(RelationalMemoryCoreTest, BeginsWithTheIdentityPaddedOrCutOff) {
  const RelationalMemoryCore wide(3, random, {.slots = 3, .head_size = 5, .heads = 1});
  const RelationalMemoryCore square(3, random, {.slots = 4, .head_size = 2, .heads = 2});
  const RelationalMemoryCore narrow(3, random, {.slots = 5, .head_size = 1, .heads = 2});
  for (int sample = 0; sample < 2; ++sample) {
    EXPECT_TRUE(same_bits(wide.initial_memory(2)[sample], tensor({{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}})));
    EXPECT_TRUE(same_bits(square.initial_memory(2)[sample], eye(4)));
    EXPECT_TRUE(same_bits(narrow.initial_memory(2)[sample], tensor({{1, 0}, {0, 1}, {0, 0}, {0, 0}, {0, 0}})));
  }
  EXPECT_FALSE(wide.initial_memory(2).wants_gradient());
}

/// Nth farthest: a vector of 16 features, and one-hot codes of its label, of n and of m, 8 features each.
TEST_F(RelationalMemoryCoreTest, HasAsManyParametersAsTheOriginal) {
  EXPECT_EQ(count_parameters(RelationalMemoryCore(16 + 3 * 8, random, {.slots = 8, .head_size = 32, .heads = 8})),
            605184);
  for (const MemoryGate gate : {MemoryGate::unit, MemoryGate::memory, MemoryGate::none})
    for (const std::int64_t rows : {1, 3}) {
      constexpr std::int64_t i = 7, heads = 2, head_size = 3, key = 5, blocks = 3, layers = 4;
      constexpr std::int64_t s = heads * head_size, qkv = heads * (2 * key + head_size);
      const std::int64_t half = gate == MemoryGate::unit ? s : 1;
      const std::int64_t gates = gate == MemoryGate::none ? 0 : (rows * s + 1) * 2 * half + (s + 1) * 2 * half;
      const RelationalMemoryCore core(i, random,
                                      {.slots = 4,
                                       .head_size = head_size,
                                       .heads = heads,
                                       .key_size = key,
                                       .blocks = blocks,
                                       .mlp_layers = layers,
                                       .gate = gate,
                                       .input_rows = rows});
      EXPECT_EQ(count_parameters(core),
                (i + 1) * s + blocks * ((s + 1) * qkv + 2 * qkv + 4 * s) + layers * (s + 1) * s + gates);
    }
}

}  // namespace
}  // namespace retrace
