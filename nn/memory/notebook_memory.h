// A relational memory from an educational notebook: the input is a row beside the slots, and the gates are computed
// from the output of an MLP. For the other relational memories see relational_memories.h.
#pragma once

#include <retrace/nn/layers/multi_head_attention.h>

namespace retrace {

/// The size of a NotebookMemory.
struct NotebookMemoryOptions {
  std::int64_t slots = 4;
  std::int64_t slot_size = 64;
  int heads = 4;
};

/// The slots after a step of a NotebookMemory, its output, attention weights and gates.
struct NotebookMemoryResult {
  Tensor memory;                                // [B, N, S]
  Tensor y;                                     // [B, S]: the output of the MLP in the row of the input
  Tensor weights;                               // [B, heads, N + 1, N + 1]
  Tensor input_gate, forget_gate, output_gate;  // i, f, o [B, N, S]
};

/// One step, for memory M [B, N, S] and input x [B, S]:
///   A = [M; x], r = MHA(A, A, A) + A, m = MLP(r), c = m[:, :N], y = m[:, N];
///   i, f, o = sigmoid(W c + b), each with a W and b of its own, M' = o tanh(f M + i tanh c).
/// The constructor throws ShapeError unless there is a slot and the heads divide S.
struct NotebookMemory {
  Parameter w_q, w_k, w_v, w_o;  // [S, S], multiplied from the right; initially normal, standard deviation 0.1
  Linear mlp_hidden, mlp_out;    // S -> 2S -> S, with a ReLU in between
  Linear input_gate, forget_gate, output_gate;
  NotebookMemoryOptions options;

  NotebookMemory(Random& random, const NotebookMemoryOptions& memory = {});
  /// Throws ShapeError unless the memory is [B, N, S] and x [B, S].
  NotebookMemoryResult operator()(const Tensor& memory, const Tensor& x) const;
  void visit(auto&& see) const {
    see("w_q", w_q), see("w_k", w_k), see("w_v", w_v), see("w_o", w_o);
    see("mlp_hidden", mlp_hidden), see("mlp_out", mlp_out);
    see("input_gate", input_gate), see("forget_gate", forget_gate), see("output_gate", output_gate);
  }
};

}  // namespace retrace
