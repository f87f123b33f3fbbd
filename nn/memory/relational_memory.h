// A relational memory whose slots attend to each other, take in the input, and pass a gate; layer norms keep their
// scale. For the other relational memories see relational_memories.h.
#pragma once

#include <optional>

#include <retrace/nn/layers/multi_head_attention.h>

namespace retrace {

/// y = g next + (1 - g) old, g = sigmoid([old; next] W), for old and next [..., S] and W [2S, S]. Returns next itself
/// if W is undefined. Throws ShapeError if old and next differ in shape.
Tensor gated_update(const Tensor& old, const Tensor& next, const Tensor& weight = {});
/// A random memory [batch, slots, size], normal with this standard deviation; every sample gets values of its own.
Tensor init_memory(std::int64_t batch, std::int64_t slots, std::int64_t size, Random& random, double deviation = 0.1);

/// How the slots take in the input x. combination: each slot is concatenated with x and projected; cross_attention: the
/// slots attend to the rows of x; none: x is ignored.
enum class MemoryInput { combination, cross_attention, none };

/// The size of a RelationalMemory, its input and its gate.
struct RelationalMemoryOptions {
  std::int64_t slots = 8;
  std::int64_t slot_size = 64;
  int heads = 4;
  MemoryInput input = MemoryInput::combination;
  bool gate = true;
  double eps = 1e-6;  // of the layer norms
};

/// The slots after a step of a RelationalMemory, with its attention weights and gates.
struct RelationalMemoryResult {
  Tensor memory;   // [B, N, S]
  Tensor weights;  // [B, heads, N, N]: attention of each slot to each
  Tensor gates;    // g [B, N, S]; undefined without a gate
};

/// One step, for memory M [B, N, S] and input x [B, I] (with cross-attention also [B, L, I]):
///   m = LN(M + MHA(M, M, M)), u = x W_input (x itself if I = S),
///   m = LN(m + [m; u] W_combine) (combination) or m = LN(m + MHA(m, u, u)) (cross_attention),
///   M' = gated_update(M, m, W_gate), or m without a gate.
/// All matrices multiply from the right, without biases. Initially they are normal, with standard deviation
/// sqrt(2 / (I + S)) for W_input, sqrt(2 / 3S) for W_combine and W_gate, and sqrt(1 / S) for the attention. The
/// constructor throws ShapeError unless there is a slot and the heads divide S.
struct RelationalMemory {
  Parameter w_q, w_k, w_v, w_o;  // [S, S]
  LayerNorm norm;
  std::optional<Parameter> w_input;    // [I, S]; absent where I = S
  std::optional<Parameter> w_combine;  // [2S, S]
  std::optional<MultiHeadAttention> cross;
  std::optional<LayerNorm> input_norm;
  std::optional<Parameter> w_gate;  // [2S, S]
  RelationalMemoryOptions options;

  RelationalMemory(std::int64_t input_size, Random& random, const RelationalMemoryOptions& memory = {});
  /// Without x, the slots only attend to each other. Throws ShapeError unless the memory is [B, N, S] and x as above.
  RelationalMemoryResult operator()(const Tensor& memory, const Tensor& x = {}) const;
  /// A random initial memory [B, N, S]: see init_memory.
  Tensor reset_memory(std::int64_t batch, Random& random, double deviation = 0.1) const;
  void visit(auto&& see) const {
    see("w_q", w_q), see("w_k", w_k), see("w_v", w_v), see("w_o", w_o), see("norm", norm);
    see("w_input", w_input), see("w_combine", w_combine), see("cross", cross), see("input_norm", input_norm);
    see("w_gate", w_gate);
  }

 private:
  Tensor take_in(const Tensor& slots, const Tensor& x) const;
};

}  // namespace retrace
