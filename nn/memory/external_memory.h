// Shared by the networks whose LSTM reads and writes an external memory: the NTM and the DNC.
#pragma once

#include <retrace/nn/layers/lstm.h>
#include <retrace/nn/memory/head_rows.h>

namespace retrace {

/// The steps of an LSTM with the input [x_t; r] for x [B, T, I] and the reads r [B, R, W] of the step before. The part
/// of x is computed for all steps at once.
class ControllerSteps {
 public:
  /// The cell has to outlive the steps.
  ControllerSteps(const LstmCell& cell, const Tensor& x);
  /// The state after step t.
  LstmState operator()(std::int64_t t, const Tensor& reads, const LstmState& before) const;
  Dtype dtype() const { return of_x_.dtype(); }

 private:
  const LstmCell& cell_;
  Tensor of_x_;            // [T, B, 4 H]
  Tensor reads_to_gates_;  // [4 H, R W]
};

/// w = softmax(b s) over the slots: k [B, n, W] and b [B, n, 1] -> w [B, n, N], for the memory M [B, N, W]. s is the
/// cosine of k and a slot, k M[i] / (|k| |M[i]|), where a norm |v| is sqrt(sum v^2 + 1e-6), as in the authors' code of
/// the DNC, so that an empty slot has the cosine 0.
Tensor content_weights(const Tensor& memory, const Tensor& keys, const Tensor& strengths);

/// M[i] (1 - w[i] e) + w[i] a, element by element, for the memory M [B, N, W], w [B, 1, N], e and a [B, 1, W].
Tensor erase_and_add(const Tensor& memory, const Tensor& weights, const Tensor& erase, const Tensor& add);

/// h beside the reads: [B, H + R W].
Tensor with_reads(const Tensor& h, const Tensor& reads);

/// A part of a state: `given`, or where it is undefined, `first`. Throws ShapeError, naming the module and the part,
/// unless the two have the same shape.
Tensor part_of_state(const char* layer, const char* name, const Tensor& given, const Tensor& first);

/// Throws ValueError, naming the module, unless each number is 1 or more.
void check_external_memory(const char* layer, std::int64_t hidden, std::int64_t slots, std::int64_t slot_size,
                           int read_heads);

}  // namespace retrace
