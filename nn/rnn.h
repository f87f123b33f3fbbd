// The Elman network: h' = f(W x + U h + b) (Elman, "Finding structure in time", 1990).
#pragma once

#include <retrace/nn/initialise.h>
#include <retrace/nn/module.h>
#include <retrace/nn/recurrent.h>

namespace retrace {

/// One step, h' = f(W x + U h + b) with any activation f: x [B, I], h [B, H] -> h' [B, H]. Initially weight_ih [H, I]
/// is Glorot-uniform, weight_hh [H, H] orthogonal and bias [H] zero.
struct RnnCell {
  Parameter weight_ih, weight_hh, bias;
  Activation activation;

  RnnCell(std::int64_t input, std::int64_t hidden, Random& random, Activation act = Activation::tanh)
      : weight_ih(glorot_uniform(gate_shape("RnnCell", 1, input, hidden), random)),
        weight_hh(orthogonal(hidden, hidden, random)),
        bias(zeros({hidden})),
        activation(act) {}

  /// Throws ShapeError unless x is [B, I] and h [B, H].
  Tensor operator()(const Tensor& x, const Tensor& h) const;
  /// One step from W x + b, which may have been computed for all steps at once.
  Tensor step(const Tensor& projected, const Tensor& h) const;
  std::int64_t hidden() const { return weight_hh.dim(0); }
  void visit(auto&& see) const { see("weight_ih", weight_ih), see("weight_hh", weight_hh), see("bias", bias); }
};

/// The result of Rnn.
struct RnnResult {
  Tensor y;  // [B, T, H]: h after every step
  Tensor h;  // [B, H]: after the last step
};

/// An RnnCell over x [B, T, I], from h (zero if undefined). lengths [B] (i64; undefined: all T) gives the number of
/// steps of each sample, which keeps its state afterwards. Throws ShapeError if a shape differs from these, IndexError
/// if a length is not in [0, T].
struct Rnn {
  RnnCell cell;

  /// Throws ValueError unless the activation is tanh or relu.
  Rnn(std::int64_t input, std::int64_t hidden, Random& random, Activation activation = Activation::tanh);
  RnnResult operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { cell.visit(see); }
};

}  // namespace retrace
