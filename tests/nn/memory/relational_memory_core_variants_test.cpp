// The variants of the relational memory core: each against its formula in other ops, and the properties in which it
// differs from the authors' core.
#include <retrace/nn/memory/relational_memory_core_variants.h>

#include <retrace/models/networks/rmc_model.h>
#include <retrace/tests/nn/memory/memory_test.h>

namespace retrace {
namespace {

using MemoryCoreVariantTest = MemoryTest;

constexpr std::int64_t slots = 3, head_size = 2, key_size = 5, size = 4, features = 3;

RelationalMemoryCoreOptions small(const RelationalMemoryCoreVariant& variant, int blocks = 2, int mlp_layers = 2) {
  return {.slots = slots,
          .head_size = head_size,
          .heads = 2,
          .key_size = key_size,
          .blocks = blocks,
          .mlp_layers = mlp_layers,
          .variant = variant};
}

/// (x - mean) / sqrt(var + eps) gamma + beta with mean and variance over all rows and features of a sample.
Tensor joint_norm(const Tensor& x, const LayerNorm& norm) {
  const Tensor centred = x - mean(x, {1, 2}, {.keepdims = true});
  const Tensor variance = mean(square(centred), {1, 2}, {.keepdims = true});
  return centred / sqrt(variance + norm.eps) * norm.weight + norm.bias;
}

/// softmax(q k^T factor) v in each head of [q1 k1 v1 q2 k2 v2].
Tensor attended(const Tensor& qkv, double factor) {
  Tensors heads;
  for (const Tensor& head : split(qkv, {2 * key_size + head_size, 2 * key_size + head_size}, -1)) {
    const Tensors parts = split(head, {key_size, key_size, head_size}, -1);
    heads.push_back(matmul(softmax(matmul(parts[0], parts[1], {.transpose_b = true}) * factor), parts[2]));
  }
  return concat(heads, -1);
}

/// A block with joint norms, for an MLP of any kind.
Tensor after_block(const RelationalMemoryBlock& block, const Tensor& rows, double factor, const auto& mlp) {
  const Tensor qkv = joint_norm(block.qkv(rows), *block.qkv_norm);
  const Tensor a = joint_norm(rows + attended(qkv, factor), *block.attention_norm);
  return joint_norm(a + mlp(a), *block.mlp_norm);
}

/// sigmoid(g_i) tanh(m) + sigmoid(g_f) M for the first rows m, with the gates g = tanh(M) W_m + u W_u (and biases) plus
/// the given offsets.
Tensor updated(const RelationalMemoryCore& core, const Tensor& memory, const Tensor& u, const Tensor& rows,
               const Tensor& input_bias, const Tensor& forget_bias) {
  const Tensor gates = (*core.gate_of_memory)(tanh(memory)) + unsqueeze((*core.gate_of_input)(u), 1);
  const Tensors halves = split(gates, {size, size}, -1);
  return sigmoid(halves[0] + input_bias) * tanh(slice(rows, {all, range(0, slots)})) +
         sigmoid(halves[1] + forget_bias) * memory;
}

/// Options combine: l0sg_variant with an MLP whose layers differ.
RelationalMemoryCoreVariant l0sg_with_separate_layers() {
  RelationalMemoryCoreVariant variant = l0sg_variant();
  variant.mlp = MemoryMlp::of_core;
  return variant;
}

TEST_F(MemoryCoreVariantTest, L0sgIsItsFormula) {
  const RelationalMemoryCore core(features, random, small(l0sg_variant()));
  ASSERT_EQ(core.blocks.size(), 1u) << "two blocks of one";
  ASSERT_EQ(core.mlp.size(), 1u) << "two layers of one";
  EXPECT_EQ(core.forget_bias->item(), 1);
  EXPECT_EQ(core.input_bias->item(), 0);
  scatter(core, random);
  const Tensor memory = random.normal({2, slots, size}), x = random.normal({2, features}), u = core.input(x);
  const auto mlp = [&](const Tensor& a) { return relu(core.mlp[0](relu(core.mlp[0](a)))); };
  Tensor rows = concat({memory, unsqueeze(u, 1)}, 1);
  for (int k = 0; k < 2; ++k) rows = after_block(core.blocks[0], rows, 1 / std::sqrt(5.0), mlp);
  const Tensor expected = updated(core, memory, u, rows, *core.input_bias, *core.forget_bias);
  EXPECT_LT(difference(core(memory, x).memory, expected), 1e-12);
}

TEST_F(MemoryCoreVariantTest, L0sgWithSeparateLayersOnlyHasMoreOfThem) {
  const RelationalMemoryCore core(features, random, small(l0sg_with_separate_layers(), 1));
  ASSERT_EQ(core.mlp.size(), 2u);
  scatter(core, random);
  const Tensor memory = random.normal({2, slots, size}), x = random.normal({2, features}), u = core.input(x);
  const auto mlp = [&](const Tensor& a) { return relu(core.mlp[1](relu(core.mlp[0](a)))); };
  const Tensor rows = after_block(core.blocks[0], concat({memory, unsqueeze(u, 1)}, 1), 1 / std::sqrt(5.0), mlp);
  const Tensor expected = updated(core, memory, u, rows, *core.input_bias, *core.forget_bias);
  EXPECT_LT(difference(core(memory, x).memory, expected), 1e-12);
}

TEST_F(MemoryCoreVariantTest, TheBlogsIsItsFormula) {
  const RelationalMemoryCore core(features, random, small(blog_variant()));
  ASSERT_EQ(core.mlp.size(), 4u) << "two layers for each of two blocks";
  scatter(core, random);
  const Tensor memory = random.normal({2, slots, size}), x = random.normal({2, features}), u = core.input(x);
  Tensor rows = concat({memory, unsqueeze(u, 1)}, 1);
  for (std::size_t k = 0; k < 2; ++k)
    rows = after_block(core.blocks[k], rows, 1 / std::sqrt(5.0),
                       [&](const Tensor& a) { return core.mlp[2 * k + 1](core.mlp[2 * k](a)); });
  EXPECT_LT(difference(core(memory, x).memory, updated(core, memory, u, rows, zeros({}), zeros({}))), 1e-12);
}

TEST_F(MemoryCoreVariantTest, RelgansIsItsFormula) {
  const RelationalMemoryCore core(features, random, small(relgan_variant(), 1));
  EXPECT_FALSE(core.blocks[0].qkv.bias || core.gate_of_input->bias || core.gate_of_memory->bias);
  EXPECT_TRUE(core.input.bias && core.mlp[0].bias);
  scatter(core, random);
  const Tensor memory = random.normal({2, slots, size}), x = random.normal({2, features}), u = core.input(x);
  const auto mlp = [&](const Tensor& a) { return core.mlp[1](relu(core.mlp[0](a))); };
  const Tensor rows = after_block(core.blocks[0], concat({memory, unsqueeze(u, 1)}, 1), 1 / std::sqrt(12.0), mlp);
  EXPECT_LT(difference(core(memory, x).memory, updated(core, memory, u, rows, zeros({}), ones({}))), 1e-12);
}

/// The scale of a slot affects the others only if a norm runs over all slots.
TEST_F(MemoryCoreVariantTest, JointNormsCoupleTheSlots) {
  const auto effect_on_slot_0 = [&](const RelationalMemoryCoreVariant& variant) {
    const RelationalMemoryCore core(features, random, small(variant, 1));
    // With values of 0 attention has no effect, and only the normalisation of the rows remains.
    RelationalMemoryCore deaf = clone(core);
    copy_values(zeros(deaf.blocks[0].qkv_norm->weight.shape()), deaf.blocks[0].qkv_norm->weight);
    const Tensor memory = random.normal({1, slots, size}), x = random.normal({1, features});
    const Tensor louder = memory * tensor({{{1}, {1}, {5}}});
    const SliceIndex first = 0;
    return difference(slice(deaf(memory, x).memory, {all, first}), slice(deaf(louder, x).memory, {all, first}));
  };
  EXPECT_LT(effect_on_slot_0({}), 1e-12);
  for (const RelationalMemoryCoreVariant& variant : {l0sg_variant(), blog_variant(), relgan_variant()})
    EXPECT_GT(effect_on_slot_0(variant), 1e-3);
}

/// Permuted slots give the permuted memory, unless every row has weights of its own.
TEST_F(MemoryCoreVariantTest, OnlyWeightsOfRowsTellSlotsApartByTheirPlace) {
  const auto asymmetry = [&](const RelationalMemoryCoreVariant& variant) {
    const RelationalMemoryCore core(features, random, small(variant, 1));
    scatter(core, random);
    const Tensor memory = random.normal({2, slots, size}), x = random.normal({2, features}), order = indices({2, 0, 1});
    return difference(core(take(memory, order, 1), x).memory, take(core(memory, x).memory, order, 1));
  };
  EXPECT_LT(asymmetry(blog_variant()), 1e-12);
  EXPECT_LT(asymmetry(relgan_variant()), 1e-12);
  EXPECT_GT(asymmetry(l0sg_variant()), 1e-3);
}

TEST_F(MemoryCoreVariantTest, LearnedGateBiasesAreParametersThatGetGradients) {
  const RelationalMemoryCore core(features, random, small(l0sg_variant()));
  Tape tape;
  const Tensor memory = core(core.initial_memory(2), random.normal({2, features})).memory;
  tape.backward({memory}, {random.normal(memory.shape())});
  for (const NamedTensor& parameter : parameters(core)) EXPECT_TRUE(parameter.tensor.has_grad()) << parameter.name;
  EXPECT_NE(core.forget_bias->grad().item(), 0);
}

TEST_F(MemoryCoreVariantTest, WithoutGateBiasesTheOptionsDoNotMatter) {
  RelationalMemoryCore core(features, random, small(blog_variant()));
  const Tensor memory = random.normal({2, slots, size}), x = random.normal({2, features});
  const Tensor before = core(memory, x).memory;
  core.options.forget_bias = 7, core.options.input_bias = -7;
  EXPECT_TRUE(same_bits(core(memory, x).memory, before));
}

TEST_F(MemoryCoreVariantTest, WeightsBeginAsTheirAuthorsDrawThem) {
  const std::int64_t wide = 64;
  const auto core_of = [&](const RelationalMemoryCoreVariant& variant) {
    return RelationalMemoryCore(16, random, {.slots = 4, .head_size = 32, .heads = 2, .variant = variant});
  };
  const RelationalMemoryCore uniform = core_of(l0sg_variant()), glorot = core_of(blog_variant());
  EXPECT_LE(max(abs(uniform.mlp[0].weight)).item(), 1.0 / 8);
  EXPECT_NEAR(deviation_of(uniform.mlp[0].weight), 1 / std::sqrt(3.0 * wide), 5e-3);
  EXPECT_NEAR(deviation_of(*uniform.mlp[0].bias), 1 / std::sqrt(3.0 * wide), 2e-2);
  EXPECT_NEAR(deviation_of(glorot.mlp[0].weight), std::sqrt(2.0 / (wide + wide)), 5e-3);
  EXPECT_TRUE(same_bits(*glorot.mlp[0].bias, zeros({wide})));
}

/// The parameter counts of the ports for Nth farthest (40 features, 8 slots, 8 heads of 32), the last one with the
/// answer MLP of 4 layers.
TEST_F(MemoryCoreVariantTest, HaveAsManyParametersAsTheOriginals) {
  const auto core_of = [](const RelationalMemoryCoreVariant& variant) {
    return RelationalMemoryCoreOptions{.slots = 8, .head_size = 32, .heads = 8, .variant = variant};
  };
  EXPECT_EQ(count_parameters(RelationalMemoryCore(40, random, core_of({}))), 605184);
  EXPECT_EQ(count_parameters(RelationalMemoryCore(40, random, core_of(l0sg_variant()))), 559874);
  EXPECT_EQ(count_parameters(RelationalMemoryCore(40, random, core_of(blog_variant()))), 605184);
  EXPECT_EQ(count_parameters(RelationalMemoryCore(40, random, core_of(relgan_variant()))), 605184 - 768 - 2 * 512);
  const RmcModel model(
      {.input = 40, .output = 8, .core = core_of(l0sg_with_separate_layers()), .head_layers = 4, .head_size = 256},
      random);
  EXPECT_EQ(count_parameters(model), 559874 + 65792 + 723976);
  EXPECT_EQ(model(random.uniform({2, 3, 40}, -1, 1)).shape(), (Shape{2, 8}));
}

/// Every variant supports the options of the core: several input rows, and gates per slot or none.
TEST_F(MemoryCoreVariantTest, TakeTheOptionsOfTheCore) {
  for (const RelationalMemoryCoreVariant& variant :
       {l0sg_variant(), l0sg_with_separate_layers(), blog_variant(), relgan_variant()})
    for (const MemoryGate gate : {MemoryGate::unit, MemoryGate::memory, MemoryGate::none}) {
      RelationalMemoryCoreOptions options = small(variant, 3, 4);
      options.gate = gate, options.input_rows = 2;
      const RelationalMemoryCore core(features, random, options);
      const RelationalMemoryCoreResult result = core(core.initial_memory(2), random.normal({2, 2, features}));
      EXPECT_EQ(result.memory.shape(), (Shape{2, slots, size}));
      EXPECT_EQ(result.weights.shape(), (Shape{2, 2, slots + 2, slots + 2})) << "all rows ask where norms need them";
    }
}

}  // namespace
}  // namespace retrace
