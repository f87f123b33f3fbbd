// The relational memory core without its residuals, layer norms or MLP: each choice against its formula, by its number
// of parameters, and by its gradients.
#include <retrace/nn/memory/relational_memory_core.h>

#include <cmath>
#include <vector>

#include <retrace/tests/nn/memory/memory_test.h>

namespace retrace {
namespace {

using MemoryCorePartsTest = MemoryTest;

constexpr std::int64_t slots = 3, features = 3, size = 4;

std::vector<RelationalMemoryCoreOptions> all_choices() {
  std::vector<RelationalMemoryCoreOptions> choices;
  for (const MemoryGate gate : {MemoryGate::unit, MemoryGate::memory, MemoryGate::none})
    for (const bool residual : {true, false})
      for (const bool layer_norm : {true, false})
        for (const int mlp_layers : {2, 0})
          choices.push_back({.slots = slots,
                             .head_size = 2,
                             .heads = 2,
                             .blocks = 2,
                             .mlp_layers = mlp_layers,
                             .residual = residual,
                             .layer_norm = layer_norm,
                             .gate = gate});
  return choices;
}

std::string name_of(const RelationalMemoryCoreOptions& options) {
  return text("gate ", static_cast<int>(options.gate), ", residual ", options.residual, ", layer norm ",
              options.layer_norm, ", MLP layers ", options.mlp_layers);
}

Tensor norm_of(const Tensor& x, const std::optional<LayerNorm>& norm) {
  return norm ? layer_norm(x, norm->weight, norm->bias, {.eps = norm->eps}) : x;
}

/// The blocks, composed of slices, products and softmax.
Tensor after_blocks(const RelationalMemoryCore& core, Tensor rows) {
  const double own = core.options.residual ? 1 : 0;
  for (const RelationalMemoryBlock& block : core.blocks) {
    Tensors heads;
    for (const Tensor& head : split(norm_of(block.qkv(rows), block.qkv_norm), {6, 6}, -1)) {
      const Tensors qkv = split(head, {2, 2, 2}, -1);
      heads.push_back(matmul(softmax(matmul(qkv[0], qkv[1], {.transpose_b = true}) / std::sqrt(2.0)), qkv[2]));
    }
    rows = norm_of(rows * own + concat(heads, -1), block.attention_norm);
    if (core.mlp.empty()) continue;
    rows = norm_of(rows * own + core.mlp[1](relu(core.mlp[0](rows))), block.mlp_norm);
  }
  return slice(rows, {all, range(0, slots)});
}

TEST_F(MemoryCorePartsTest, EveryChoiceIsItsFormula) {
  for (const RelationalMemoryCoreOptions& options : all_choices()) {
    const RelationalMemoryCore core(features, random, options);
    scatter(core, random);
    const Tensor memory = random.normal({2, slots, size}), x = random.normal({2, features}), u = core.input(x);
    const Tensor m = after_blocks(core, concat({memory, unsqueeze(u, 1)}, 1));
    Tensor expected = m;
    if (options.gate != MemoryGate::none) {
      const std::int64_t half = options.gate == MemoryGate::unit ? size : 1;
      const Tensors gates =
          split((*core.gate_of_memory)(tanh(memory)) + unsqueeze((*core.gate_of_input)(u), 1), {half, half}, -1);
      expected = sigmoid(gates[0]) * tanh(m) + sigmoid(gates[1] + 1) * memory;
    }
    EXPECT_LT(difference(core(memory, x).memory, expected), 1e-12) << name_of(options);
  }
}

TEST_F(MemoryCorePartsTest, WhatIsLeftOutHasNoParameters) {
  for (const RelationalMemoryCoreOptions& options : all_choices()) {
    const std::int64_t half = options.gate == MemoryGate::unit ? size : 1;
    const std::int64_t gates = options.gate == MemoryGate::none ? 0 : 2 * (size + 1) * 2 * half;
    const std::int64_t mlp = options.mlp_layers * (size + 1) * size;
    const std::int64_t norms = !options.layer_norm ? 0 : 2 * (12 + size + (options.mlp_layers == 0 ? 0 : size));
    const std::int64_t qkv = (size + 1) * 12, input = (features + 1) * size;
    EXPECT_EQ(count_parameters(RelationalMemoryCore(features, random, options)),
              input + 2 * (qkv + norms) + mlp + gates)
        << name_of(options);
  }
}

TEST_F(MemoryCorePartsTest, EveryChoiceHasExactGradients) {
  for (RelationalMemoryCoreOptions options : all_choices()) {
    options.blocks = 1;  // a second one without residuals leaves gradients that drown in the roundings of differences
    const RelationalMemoryCore core(features, random, options);
    const Tensor x = random.normal({2, features});
    const GradcheckResult result =
        gradcheck(core, [&](const RelationalMemoryCore& m) { return m(m(m.initial_memory(2), x).memory, x).memory; });
    EXPECT_TRUE(result.passed()) << name_of(options) << "\n" << result;
  }
}

/// A variant defines the parts; the options decide whether they exist.
TEST_F(MemoryCorePartsTest, VariantsCanDoWithoutThem) {
  for (const RelationalMemoryCoreVariant& variant : {l0sg_variant(), blog_variant(), relgan_variant()}) {
    const RelationalMemoryCore core(features, random,
                                    {.slots = slots,
                                     .head_size = 2,
                                     .heads = 2,
                                     .mlp_layers = 0,
                                     .residual = false,
                                     .layer_norm = false,
                                     .variant = variant});
    EXPECT_TRUE(core.mlp.empty());
    const RelationalMemoryCoreResult result = core(core.initial_memory(2), random.normal({2, features}));
    EXPECT_EQ(result.memory.shape(), (Shape{2, slots, size}));
    EXPECT_EQ(result.weights.shape(), (Shape{2, 2, slots, slots + 1}))
        << "no norm goes over all rows: memory alone asks";
  }
}

}  // namespace
}  // namespace retrace
