// Long short-term memory (Hochreiter and Schmidhuber, 1997; with the forget gate of Gers et al., 2000).
#pragma once

#include <retrace/nn/initialise.h>
#include <retrace/nn/module.h>
#include <retrace/nn/recurrent.h>

namespace retrace {

struct LstmState {
  Tensor h;  // [B, H]
  Tensor c;  // [B, H]
};

/// One step:
///   i, f, o = sigmoid(W x + U h + b), g = tanh(W x + U h + b), c' = f c + i g, h' = o tanh(c').
/// x [B, I] -> h', c' [B, H]. The gates' rows lie one under the other in the order i, f, g, o, as in PyTorch: weight_ih
/// [4H, I] begins Glorot-uniform gate by gate, weight_hh [4H, H] orthogonal, bias [4H] zero but 1 for the forget gate.
struct LstmCell {
  Parameter weight_ih, weight_hh, bias;

  LstmCell(std::int64_t input, std::int64_t hidden, Random& random);

  LstmState operator()(const Tensor& x, const LstmState& state) const;
  /// The same from W x + b, computed before for all steps.
  LstmState step(const Tensor& projected, const LstmState& state) const;
  LstmState zero_state(std::int64_t batch) const;
  std::int64_t input() const { return weight_ih.dim(1); }
  std::int64_t hidden() const { return weight_hh.dim(1); }
  void visit(auto&& see) const { see("weight_ih", weight_ih), see("weight_hh", weight_hh), see("bias", bias); }
};

struct LstmResult {
  Tensor y;         // [B, T, H]: h after every step
  LstmState state;  // after the last one
};

/// The cell over x [B, T, I], from a state (what is undefined of it is zero). After its length (lengths [B], i64;
/// undefined: T) a sample keeps its state.
struct Lstm {
  LstmCell cell;

  Lstm(std::int64_t input, std::int64_t hidden, Random& random) : cell(input, hidden, random) {}
  LstmResult operator()(const Tensor& x, const LstmState& state = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { cell.visit(see); }
};

}  // namespace retrace
