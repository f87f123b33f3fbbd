// The recurrent cell of Elman: h' = act(W x + U h + b), and its sequence.
#pragma once

#include <retrace/nn/initialise.h>
#include <retrace/nn/module.h>
#include <retrace/nn/recurrent.h>

namespace retrace {

/// One step, with any activation: x [B, I], h [B, H] -> h' [B, H]. weight_ih [H, I] begins Glorot-uniform, weight_hh
/// [H, H] orthogonal, bias 0.
struct RnnCell {
  Parameter weight_ih, weight_hh, bias;
  Activation activation;

  RnnCell(std::int64_t input, std::int64_t hidden, Random& random, Activation act = Activation::tanh)
      : weight_ih(glorot_uniform(gate_shape("RnnCell", 1, input, hidden), random)),
        weight_hh(orthogonal(hidden, hidden, random)),
        bias(zeros({hidden})),
        activation(act) {}

  Tensor operator()(const Tensor& x, const Tensor& h) const;
  /// The same from W x + b, computed before for all steps.
  Tensor step(const Tensor& projected, const Tensor& h) const;
  std::int64_t hidden() const { return weight_hh.dim(0); }
  void visit(auto&& see) const { see("weight_ih", weight_ih), see("weight_hh", weight_hh), see("bias", bias); }
};

struct RnnResult {
  Tensor y;  // [B, T, H]: h after every step
  Tensor h;  // [B, H]: after the last one
};

/// The cell over x [B, T, I], from h (zero if undefined). After its length (lengths [B], i64; undefined: T) a sample
/// keeps its state.
struct Rnn {
  RnnCell cell;

  /// Throws ValueError for another activation than tanh and relu.
  Rnn(std::int64_t input, std::int64_t hidden, Random& random, Activation activation = Activation::tanh);
  RnnResult operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { cell.visit(see); }
};

}  // namespace retrace
