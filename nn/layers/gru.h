// The gated recurrent unit (Cho et al., 2014), as PyTorch computes it.
#pragma once

#include <vector>

#include <retrace/nn/layers/initialise.h>
#include <retrace/nn/layers/recurrent_layers.h>
#include <retrace/nn/module/module.h>

namespace retrace {

/// One step:
///   r, z = sigmoid(W x + b_ih + U h + b_hh), n = tanh(W x + b_ih + r (U h + b_hh)), h' = (1 - z) n + z h.
/// or, with the reset gate before the product, n = tanh(W x + b_ih + U (r h) + b_hh). x [B, I], h [B, H] -> h' [B, H].
/// The rows of the gates are in the order r, z, n. Initially weight_ih [3H, I] is Glorot-uniform and weight_hh [3H, H]
/// orthogonal, each gate by itself, and the biases [3H] are zero; without biases they are undefined.
struct GruCell {
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;
  GruReset reset;

  GruCell(std::int64_t input, std::int64_t hidden, Random& random, BiasOptions with = {},
          GruReset placed = GruReset::after_product);

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
  Tensor y;  // [B, T, H]: h of the last layer after every step; [B, T, 2H] if bidirectional, forward first
  Tensor h;  // [B, H] or [cells, B, H]: of every cell, after its last step
};

/// One GruCell per layer, or two if bidirectional, over x [B, T, I], from h: [B, H] of a single cell, [cells, B, H] of
/// several; zero if undefined. The order of the cells, lengths, random and errors are as in Lstm.
struct Gru {
  RecurrentOptions options;
  GruCell cell;                  // of the first layer
  std::vector<GruCell> further;  // the other cells: visited as l0_reverse, l1, l1_reverse, ...

  Gru(std::int64_t input, std::int64_t hidden, Random& random, const RecurrentOptions& layers = {},
      GruReset reset = GruReset::after_product);
  GruResult operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {},
                       Random* random = nullptr) const;
  void visit(auto&& see) const { cell.visit(see), visit_further_cells(further, options, see); }
};

}  // namespace retrace
