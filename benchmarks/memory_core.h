// Two relational memory cores for the "Nth farthest" task: 8 vectors of 40 features, memory 8 x 256 with 8 heads, four
// hidden layers of 256, 8 classes.
#pragma once

#include <vector>

#include <retrace/nn/nn.h>

namespace retrace {

inline constexpr std::int64_t farthest_steps = 8, farthest_input = 40, farthest_classes = 8, farthest_slots = 8;
inline constexpr std::int64_t farthest_size = 256, farthest_rows = farthest_slots + 1;
/// Floating-point operations of a training step (3 x forward) per sample, with this number of rows as queries and
/// through the MLP.
constexpr double farthest_flops(std::int64_t queries) {
  const std::int64_t a_step = farthest_input + farthest_rows * 2 * farthest_size +
                              queries * (farthest_size + 2 * farthest_rows + 2 * farthest_size) +
                              farthest_rows * 2 * farthest_size;
  const std::int64_t head = farthest_slots * farthest_size + 3 * 256 + farthest_classes;
  return 6 * static_cast<double>(farthest_steps * farthest_size * a_step + 256 * head);
}

/// Maps the memory after the last step to the classes.
struct FarthestHead {
  std::vector<Linear> layers;

  explicit FarthestHead(Random& random) {
    layers.emplace_back(farthest_slots * farthest_size, 256, random);
    for (int k = 0; k < 3; ++k) layers.emplace_back(256, 256, random);
    layers.emplace_back(256, farthest_classes, random);
  }
  Tensor operator()(const Tensor& memory) const {
    Tensor y = reshape(memory, {memory.dim(0), farthest_slots * farthest_size});
    for (std::size_t k = 0; k + 1 < layers.size(); ++k) y = relu(layers[k](y));
    return layers.back()(y);
  }
  void visit(auto&& see) const { see("layers", layers); }
};

/// Layer norm over the rows and the features of a sample together.
struct JointNorm {
  Parameter weight, bias;

  explicit JointNorm(std::int64_t features)
      : weight(ones({farthest_rows, features})), bias(zeros({farthest_rows, features})) {}
  Tensor operator()(const Tensor& x) const { return layer_norm(x, weight, bias, {.axes = 2}); }
  Tensor operator()(const Tensor& x, const Tensor& residual) const {
    return residual_layer_norm(x, residual, weight, bias, {.axes = 2});
  }
  void visit(auto&& see) const { see("weight", weight), see("bias", bias); }
};

/// The core as it is often written for PyTorch: layer norms over all rows together, an MLP with a ReLU after each of
/// its two layers, all rows as queries, and trained biases of the gates.
struct JointNormCore {
  static constexpr double flops = farthest_flops(farthest_rows);
  Linear input, qkv, first, second, gate_of_input, gate_of_memory;
  JointNorm qkv_norm, attention_norm, mlp_norm;
  Parameter input_bias, forget_bias;
  FarthestHead head;

  explicit JointNormCore(Random& random)
      : input(farthest_input, farthest_size, random),
        qkv(farthest_size, 3 * farthest_size, random),
        first(farthest_size, farthest_size, random),
        second(farthest_size, farthest_size, random),
        gate_of_input(farthest_size, 2 * farthest_size, random),
        gate_of_memory(farthest_size, 2 * farthest_size, random),
        qkv_norm(3 * farthest_size),
        attention_norm(farthest_size),
        mlp_norm(farthest_size),
        input_bias(tensor(0.0)),
        forget_bias(tensor(1.0)),
        head(random) {}

  Tensor operator()(const Tensor& x) const {
    const std::int64_t batch = x.dim(0);
    const Tensor rows = input(x), gates = gate_of_input(rows);
    Tensor memory = broadcast_to(eye(farthest_slots, farthest_size), {batch, farthest_slots, farthest_size});
    for (std::int64_t t = 0; t < x.dim(1); ++t) {
      const Tensor row = slice(rows, {all, range(t, t + 1)}), gate = slice(gates, {all, t});
      memory = step(memory, row, gate);
    }
    return head(memory);
  }
  void visit(auto&& see) const {
    see("input", input), see("qkv", qkv), see("first", first), see("second", second);
    see("gate_of_input", gate_of_input), see("gate_of_memory", gate_of_memory);
    see("qkv_norm", qkv_norm), see("attention_norm", attention_norm), see("mlp_norm", mlp_norm);
    see("input_bias", input_bias), see("forget_bias", forget_bias), see("head", head);
  }

 private:
  Tensor step(const Tensor& memory, const Tensor& row, const Tensor& gate) const {
    Tensor z = concat({memory, row}, 1);
    z = attention_norm(
        z, packed_attention(qkv_norm(qkv(z)), {.heads = 8, .key_size = 32, .layout = PackedLayout::by_head}));
    z = mlp_norm(z, relu(second(relu(first(z)))));
    return gated_memory(memory, z, gate_of_memory(tanh(memory)), gate,
                        {.input_bias = input_bias, .forget_bias = forget_bias})
        .memory;
  }
};

/// The library's own core.
struct CanonicalCore {
  static constexpr double flops = farthest_flops(farthest_slots);
  RelationalMemoryCore core;
  FarthestHead head;

  explicit CanonicalCore(Random& random) : core(farthest_input, random), head(random) {}
  Tensor operator()(const Tensor& x) const {
    const RelationalMemoryCore::Projected all_steps = core.project(x);
    Tensor memory = core.initial_memory(x.dim(0));
    for (std::int64_t t = 0; t < x.dim(1); ++t)
      memory = core.step(memory, {slice(all_steps.rows, {all, t}), slice(all_steps.gate, {all, t})}).memory;
    return head(memory);
  }
  void visit(auto&& see) const { see("core", core), see("head", head); }
};

}  // namespace retrace
