// A recurrent network with a stack (Joulin and Mikolov, "Inferring algorithmic patterns with stack-augmented recurrent
// nets", NeurIPS 2015, arXiv 1503.01007) or a tape, as in Deletang et al., "Neural networks and the Chomsky hierarchy"
// (ICLR 2023, arXiv 2207.02098).
#pragma once

#include <retrace/nn/layers/layers.h>

namespace retrace {

/// The actions of a SoftMemoryRnn on its cells: push, pop or nothing, on a stack; or write the first cell of a tape
/// that is a ring, and then stay, move by one cell to the left or right, or by `jump` cells to the left or right.
enum class SoftMemoryKind { stack, tape };

/// The cells of a SoftMemoryRnn.
struct SoftMemoryRnnOptions {
  SoftMemoryKind kind = SoftMemoryKind::stack;
  std::int64_t memories = 1;   // n stacks or tapes
  std::int64_t cells = 0;      // D; 0: one for each step of x, unless a state with cells is given
  std::int64_t cell_size = 8;  // c
  std::int64_t jump = 0;       // of a tape; 0: no jumps
};

/// The state of a SoftMemoryRnn.
struct SoftMemoryState {
  Tensor h = {};          // [B, H]
  Tensor cells = {};      // [B, n, D, c]; the first cell is the top of the stack, or where the head is on the tape
  std::int64_t jump = 0;  // of a tape that jumps, in the paper the length of the input; 0: that of the options
};

/// The result of a SoftMemoryRnn.
struct SoftMemoryResult {
  Tensor y;               // [B, T, H]: h after every step
  SoftMemoryState state;  // after the last step
};

/// One step, for x [B, I], h [B, H] and n memories of cells s[1] to s[D], of c numbers:
///   h' = tanh(W x + b + U [h; s[1] of each memory]), and for each memory
///   v = W_v h' + b, a = softmax(W_a h' + b), s'[k] = the sum of a[j] r[j, k] over the actions j.
/// r[j, k] is the cell k as action j leaves it. On a stack, push gives (v, s[1], ..., s[D - 1]), pop gives (s[2], ...,
/// s[D], 0), and the third action s. On a tape, s[1] = v is written first; then the head stays, s[k], or moves left,
/// s[k + 1], or right, s[k - 1], or jumps, s[k + jump] and s[k - jump], where k counts modulo D. What is pushed out of
/// the bottom of a stack is lost; with a cell for each step, nothing is. The tape's values v come from an MLP in the
/// paper's code, from one layer here. Initially U is orthogonal for h and Glorot-uniform for the cells, as the other
/// weights are, and biases are 0. The constructor throws ValueError if the cells or the jump are negative or another
/// size is not positive.
struct SoftMemoryRnn {
  using Options = SoftMemoryRnnOptions;

  Linear input;      // I -> H
  Linear recurrent;  // H + n c -> H, without a bias
  Linear act;        // H -> n values of c numbers, then the scores of the actions of each memory
  SoftMemoryRnnOptions options;

  SoftMemoryRnn(std::int64_t input_size, std::int64_t hidden, Random& random, const SoftMemoryRnnOptions& memory = {});
  /// Begins with the state of an earlier call, or with zeros. lengths [B] (i64; undefined: all T) gives the number of
  /// steps of each sample, whose state stays as it is afterwards: y repeats h there. Throws ShapeError unless x is
  /// [B, T, I], with T of 1 or more, and the state's parts [B, H] and [B, n, D, c], with D of 1 or more; IndexError if
  /// a length is not in [0, T]; ValueError if the state's jump is negative.
  SoftMemoryResult operator()(const Tensor& x, const SoftMemoryState& state = {}, const Tensor& lengths = {}) const;
  /// The number of actions: 3, or 5 with jumps.
  std::int64_t actions() const;
  void visit(auto&& see) const { see("input", input), see("recurrent", recurrent), see("act", act); }
};

}  // namespace retrace
