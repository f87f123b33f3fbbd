// The relational memory of a recurrent cell: slots that attend to each other and are gated towards what they learn.
#pragma once

#include <optional>

#include <retrace/nn/multi_head_attention.h>

namespace retrace {

/// How the slots begin, and what tells them apart. From zeros, as in the original, the slots without the input stay
/// equal for ever, whatever is trained. From the identity each has a row of its own, which is also added to it whenever
/// the slots attend: as a beginning alone it would be forgotten.
enum class InitialMemory { identity, zeros };

struct CellMemoryOptions {
  std::int64_t slots = 4;
  std::int64_t slot_size = 64;
  int heads = 2;
  InitialMemory initial = InitialMemory::identity;
  bool gate = true;  // false: M' = U
};

struct CellMemoryResult {
  Tensor memory;   // [B, N, S]
  Tensor weights;  // [B, heads, N, N]: which slot attended to which
  Tensor gates;    // [B, N, S]: how much of the update each slot took; undefined without a gate
};

/// What the steps need of inputs x [..., I]: it can be computed for a whole sequence at once.
struct ProjectedInput {
  Tensor injected;       // [..., S]: added to slot 0
  Tensor gate;           // [..., S]: x's part of W_gate [A; x] + b; this and the next undefined without a gate
  Tensor gate_of_slots;  // [S, S]: the other part of W_gate
};

/// One step, for memory M [B, N, S] and input x [B, I]:
///   A = MHA(M + E, M + E, M + E) with the initial memory E, A_0 += W_input x + b (x itself if I = S), U =
///   tanh(W_update A + b), g = sigmoid(W_gate [A; x] + b), M' = g U + (1 - g) M.
/// Without an input g is 1/2. Weights begin Glorot-uniform, those of the attention normal with deviation sqrt(1/S).
struct CellMemory {
  Parameter w_q, w_k, w_v, w_o;  // [S, S], multiplied from the right
  std::optional<Linear> input;   // I -> S; absent where I = S
  std::optional<Linear> gate;    // S + I -> S
  Linear update;                 // S -> S
  CellMemoryOptions options;

  CellMemory(std::int64_t input_size, Random& random, const CellMemoryOptions& memory = {});
  CellMemoryResult operator()(const Tensor& memory, const Tensor& x = {}) const;
  ProjectedInput project(const Tensor& x) const;
  /// The step, for an input [B, I] that was projected.
  CellMemoryResult step(const Tensor& memory, const ProjectedInput& x) const;
  /// [B, N, S], a constant.
  Tensor initial_memory(std::int64_t batch) const;
  void visit(auto&& see) const {
    see("w_q", w_q), see("w_k", w_k), see("w_v", w_v), see("w_o", w_o);
    see("input", input), see("gate", gate), see("update", update);
  }

 private:
  std::int64_t input_size() const { return input ? input->weight.dim(1) : options.slot_size; }
  void check_memory(const Tensor& memory) const;
  AttentionResult attend(const Tensor& memory) const;
};

}  // namespace retrace
