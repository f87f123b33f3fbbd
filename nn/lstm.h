// Long short-term memory (Hochreiter and Schmidhuber, 1997; with the forget gate of Gers et al., 2000).
#pragma once

#include <retrace/nn/initialise.h>
#include <retrace/nn/module.h>
#include <retrace/nn/recurrent.h>

namespace retrace {

/// The state of an LSTM.
struct LstmState {
  Tensor h;  // [B, H]
  Tensor c;  // [B, H]
};

/// One step:
///   i, f, o = sigmoid(W x + U h + b), g = tanh(W x + U h + b), c' = f c + i g, h' = o tanh(c').
/// x [B, I] -> h', c' [B, H]. The rows of the gates are in the order i, f, g, o, as in PyTorch. Initially weight_ih
/// [4H, I] is Glorot-uniform and weight_hh [4H, H] orthogonal, each gate by itself, and bias [4H] is 1 for the forget
/// gate and 0 for the others.
struct LstmCell {
  Parameter weight_ih, weight_hh, bias;

  LstmCell(std::int64_t input, std::int64_t hidden, Random& random);

  /// Throws ShapeError unless x is [B, I] and the state [B, H].
  LstmState operator()(const Tensor& x, const LstmState& state) const;
  /// One step from W x + b, which may have been computed for all steps at once.
  LstmState step(const Tensor& projected, const LstmState& state) const;
  LstmState zero_state(std::int64_t batch) const;
  std::int64_t input() const { return weight_ih.dim(1); }
  std::int64_t hidden() const { return weight_hh.dim(1); }
  void visit(auto&& see) const { see("weight_ih", weight_ih), see("weight_hh", weight_hh), see("bias", bias); }
};

/// The result of Lstm.
struct LstmResult {
  Tensor y;         // [B, T, H]: h after every step
  LstmState state;  // after the last step
};

/// An LstmCell over x [B, T, I], from a state (h and c are zero if undefined). lengths [B] (i64; undefined: all T)
/// gives the number of steps of each sample, which keeps its state afterwards. Throws ShapeError if a shape differs
/// from these, IndexError if a length is not in [0, T].
struct Lstm {
  LstmCell cell;

  Lstm(std::int64_t input, std::int64_t hidden, Random& random) : cell(input, hidden, random) {}
  LstmResult operator()(const Tensor& x, const LstmState& state = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { cell.visit(see); }
};

}  // namespace retrace
