// A relational memory whose slots attend to each other, take in an input, and are mixed with what they were by a gate.
#pragma once

#include <optional>

#include <retrace/nn/multi_head_attention.h>

namespace retrace {

/// g next + (1 - g) old with g = sigmoid([old; next] W), W [2S, S]; next itself without W. Shapes are equal.
Tensor gated_update(const Tensor& old, const Tensor& next, const Tensor& weight = {});
/// A normal memory [batch, slots, size] of that deviation, drawn anew for every sample.
Tensor init_memory(std::int64_t batch, std::int64_t slots, std::int64_t size, Random& random, double deviation = 0.1);

/// How an input x becomes part of the slots: each slot is put beside x and projected; the slots attend to the rows of
/// x; or not at all.
enum class MemoryInput { combination, cross_attention, none };

struct RelationalMemoryOptions {
  std::int64_t slots = 8;
  std::int64_t slot_size = 64;
  int heads = 4;
  MemoryInput input = MemoryInput::combination;
  bool gate = true;
  double eps = 1e-6;  // of the layer norms
};

struct RelationalMemoryResult {
  Tensor memory;   // [B, N, S]
  Tensor weights;  // [B, heads, N, N]: which slot attended to which
  Tensor gates;    // [B, N, S]; undefined without a gate
};

/// One step, for memory M [B, N, S] and input x [B, I] (for cross-attention also [B, L, I]):
///   m = LN(M + MHA(M, M, M)); with an input, u = x W_input (x itself if I = S) and
///   m = LN(m + [m; u] W_combine), or m = LN(m + MHA(m, u, u)); M' = gated_update(M, m, W_gate), or m without a gate.
/// All matrices multiply from the right, without biases; W_input begins normal with deviation sqrt(2 / (I + S)),
/// W_combine and W_gate sqrt(2 / 3S), those of the attention sqrt(1 / S).
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
  /// Without x only the slots attend to each other.
  RelationalMemoryResult operator()(const Tensor& memory, const Tensor& x = {}) const;
  /// A fresh memory for a batch: see init_memory.
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
