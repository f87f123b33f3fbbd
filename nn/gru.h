// The gated recurrent unit (Cho et al., 2014), as PyTorch computes it.
#pragma once

#include <retrace/nn/initialise.h>
#include <retrace/nn/module.h>
#include <retrace/nn/recurrent.h>

namespace retrace {

/// One step:
///   r, z = sigmoid(W x + b_ih + U h + b_hh), n = tanh(W x + b_ih + r (U h + b_hh)), h' = (1 - z) n + z h.
/// x [B, I], h [B, H] -> h' [B, H]. The rows of the gates are in the order r, z, n. Initially weight_ih [3H, I] is
/// Glorot-uniform and weight_hh [3H, H] orthogonal, each gate by itself, and the biases [3H] are zero.
struct GruCell {
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;

  GruCell(std::int64_t input, std::int64_t hidden, Random& random);

  /// Throws ShapeError unless x is [B, I] and h [B, H].
  Tensor operator()(const Tensor& x, const Tensor& h) const;
  /// One step from W x + b_ih, which may have been computed for all steps at once.
  Tensor step(const Tensor& projected, const Tensor& h) const;
  std::int64_t hidden() const { return weight_hh.dim(1); }
  void visit(auto&& see) const {
    see("weight_ih", weight_ih), see("weight_hh", weight_hh), see("bias_ih", bias_ih), see("bias_hh", bias_hh);
  }
};

/// The result of Gru.
struct GruResult {
  Tensor y;  // [B, T, H]: h after every step
  Tensor h;  // [B, H]: after the last step
};

/// A GruCell over x [B, T, I], from h (zero if undefined). lengths [B] (i64; undefined: all T) gives the number of
/// steps of each sample, which keeps its state afterwards. Throws ShapeError if a shape differs from these, IndexError
/// if a length is not in [0, T].
struct Gru {
  GruCell cell;

  Gru(std::int64_t input, std::int64_t hidden, Random& random) : cell(input, hidden, random) {}
  GruResult operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { cell.visit(see); }
};

}  // namespace retrace
