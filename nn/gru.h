// The gated recurrent unit (Cho et al., 2014), in the form that PyTorch computes.
#pragma once

#include <retrace/nn/initialise.h>
#include <retrace/nn/module.h>
#include <retrace/nn/recurrent.h>

namespace retrace {

/// One step:
///   r, z = sigmoid(W x + b_ih + U h + b_hh), n = tanh(W x + b_ih + r (U h + b_hh)), h' = (1 - z) n + z h.
/// x [B, I], h [B, H] -> h' [B, H]. The gates' rows lie in the order r, z, n. Weights begin Glorot-uniform and
/// orthogonal gate by gate, biases zero.
struct GruCell {
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;

  GruCell(std::int64_t input, std::int64_t hidden, Random& random);

  Tensor operator()(const Tensor& x, const Tensor& h) const;
  /// The same from W x + b_ih, computed before for all steps.
  Tensor step(const Tensor& projected, const Tensor& h) const;
  std::int64_t hidden() const { return weight_hh.dim(1); }
  void visit(auto&& see) const {
    see("weight_ih", weight_ih), see("weight_hh", weight_hh), see("bias_ih", bias_ih), see("bias_hh", bias_hh);
  }
};

struct GruResult {
  Tensor y;  // [B, T, H]: h after every step
  Tensor h;  // [B, H]: after the last one
};

/// The cell over x [B, T, I], from h (zero if undefined). After its length (lengths [B], i64; undefined: T) a sample
/// keeps its state.
struct Gru {
  GruCell cell;

  Gru(std::int64_t input, std::int64_t hidden, Random& random) : cell(input, hidden, random) {}
  GruResult operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { cell.visit(see); }
};

}  // namespace retrace
