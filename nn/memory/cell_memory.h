// A relational memory for a recurrent cell: slots attend to each other, and gates mix in the update. For the other
// relational memories see relational_memories.h.
#pragma once

#include <optional>

#include <retrace/nn/layers/multi_head_attention.h>

namespace retrace {

/// The initial slots. With zeros, as in the original, slots 1 to N - 1 receive no input and stay equal for ever,
/// whatever the weights. With identity, each slot starts from its own row of the identity matrix, and this row is added
/// again before every attention, because the gates would otherwise forget it.
enum class InitialMemory { identity, zeros };

/// The size of a CellMemory, its initial slots and its gate.
struct CellMemoryOptions {
  std::int64_t slots = 4;
  std::int64_t slot_size = 64;
  int heads = 2;
  InitialMemory initial = InitialMemory::identity;
  bool gate = true;  // false: M' = U, the update alone
};

/// The slots after a step of a CellMemory, with its attention weights and gates.
struct CellMemoryResult {
  Tensor memory;   // [B, N, S]
  Tensor weights;  // [B, heads, N, N]: attention of each slot to each
  Tensor gates;    // g [B, N, S]; undefined without a gate
};

/// The terms of a step that depend on the input x [..., I] alone, so that a sequence is projected in one product.
struct ProjectedInput {
  Tensor injected;       // [..., S]: added to slot 0
  Tensor gate;           // [..., S]: the term of x in W_gate [A; x] + b; undefined without a gate
  Tensor gate_of_slots;  // [S, S]: the columns of W_gate for A; undefined without a gate
};

/// One step, for memory M [B, N, S] and input x [B, I]:
///   A = MHA(M + E, M + E, M + E) with the initial memory E, A_0 += W_input x + b (x itself if I = S), U =
///   tanh(W_update A + b), g = sigmoid(W_gate [A; x] + b), M' = g U + (1 - g) M.
/// Without an input, g = 1/2. Initial weights are Glorot-uniform; those of the attention are normal with standard
/// deviation sqrt(1/S). The constructor throws ShapeError unless there is a slot and the heads divide S.
struct CellMemory {
  Parameter w_q, w_k, w_v, w_o;  // [S, S], multiplied from the right
  std::optional<Linear> input;   // I -> S; absent where I = S
  std::optional<Linear> gate;    // S + I -> S
  Linear update;                 // S -> S
  CellMemoryOptions options;

  CellMemory(std::int64_t input_size, Random& random, const CellMemoryOptions& memory = {});
  /// Throws ShapeError if the memory is not [B, N, S] or x not [B, I].
  CellMemoryResult operator()(const Tensor& memory, const Tensor& x = {}) const;
  /// The input terms of x [..., I], for step.
  ProjectedInput project(const Tensor& x) const;
  /// One step with the input terms of x [B, I]. Throws ShapeError if the batches differ.
  CellMemoryResult step(const Tensor& memory, const ProjectedInput& x) const;
  /// The initial slots [B, N, S], a constant.
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
