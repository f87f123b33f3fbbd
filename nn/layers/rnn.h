// The Elman network: h' = f(W x + U h + b) (Elman, "Finding structure in time", 1990).
#pragma once

#include <vector>

#include <retrace/nn/layers/initialise.h>
#include <retrace/nn/layers/recurrent_layers.h>
#include <retrace/nn/module/module.h>

namespace retrace {

/// One step, h' = f(W x + U h + b) with any activation f: x [B, I], h [B, H] -> h' [B, H]. Initially weight_ih [H, I]
/// is Glorot-uniform, weight_hh [H, H] orthogonal and bias [H] zero; without biases it is undefined.
struct RnnCell {
  Parameter weight_ih, weight_hh, bias;
  Activation activation;

  RnnCell(std::int64_t input, std::int64_t hidden, Random& random, Activation act = Activation::tanh,
          BiasOptions with = {})
      : weight_ih(glorot_uniform(gate_shape("RnnCell", 1, input, hidden), random)),
        weight_hh(orthogonal(hidden, hidden, random)),
        bias(with.bias ? zeros({hidden}) : Tensor()),
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
  Tensor y;  // [B, T, H]: h of the last layer after every step; [B, T, 2H] if bidirectional, forward first
  Tensor h;  // [B, H] or [cells, B, H]: of every cell, after its last step
};

/// One RnnCell per layer, or two if bidirectional, over x [B, T, I], from h: [B, H] of a single cell, [cells, B, H] of
/// several; zero if undefined. The order of the cells, lengths, random and errors are as in Lstm.
struct Rnn {
  RecurrentOptions options;
  RnnCell cell;                  // of the first layer
  std::vector<RnnCell> further;  // the other cells: visited as l0_reverse, l1, l1_reverse, ...

  /// Throws ValueError unless the activation is tanh or relu.
  Rnn(std::int64_t input, std::int64_t hidden, Random& random, Activation activation = Activation::tanh,
      const RecurrentOptions& layers = {});
  /// With tanh.
  Rnn(std::int64_t input, std::int64_t hidden, Random& random, const RecurrentOptions& layers)
      : Rnn(input, hidden, random, Activation::tanh, layers) {}
  RnnResult operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {},
                       Random* random = nullptr) const;
  void visit(auto&& see) const { cell.visit(see), visit_further_cells(further, options, see); }
};

}  // namespace retrace
