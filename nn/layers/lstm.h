// Long short-term memory (Hochreiter and Schmidhuber, 1997; with the forget gate of Gers et al., 2000).
#pragma once

#include <vector>

#include <retrace/nn/layers/initialise.h>
#include <retrace/nn/layers/recurrent_layers.h>
#include <retrace/nn/module/module.h>

namespace retrace {

/// The state of an LSTM: [B, H] of one cell, [cells, B, H] of several.
struct LstmState {
  Tensor h;
  Tensor c;
};

/// One step:
///   i, f, o = sigmoid(W x + U h + b), g = tanh(W x + U h + b), c' = f c + i g, h' = o tanh(c').
/// x [B, I] -> h', c' [B, H]. The rows of the gates are in the order i, f, g, o, as in PyTorch. Initially weight_ih
/// [4H, I] is Glorot-uniform and weight_hh [4H, H] orthogonal, each gate by itself, and bias [4H] is 1 for the forget
/// gate and 0 for the others; without biases it is undefined.
struct LstmCell {
  Parameter weight_ih, weight_hh, bias;

  LstmCell(std::int64_t input, std::int64_t hidden, Random& random, BiasOptions with = {});

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
  Tensor y;         // [B, T, H]: h of the last layer after every step; [B, T, 2H] if bidirectional, forward first
  LstmState state;  // of every cell, after its last step
};

/// One LstmCell per layer, or two if bidirectional, over x [B, T, I]. State: of a single cell h and c [B, H], of
/// several [cells, B, H], in PyTorch's order (first layer, its reverse, second layer, ...); zero if undefined. lengths
/// [B] (i64; undefined: all T) gives the number of steps of each sample, whose state stays as it is afterwards: y
/// repeats it there, and what x holds there changes nothing. The reverse direction begins at the sample's own last step
/// and ends, with its state, at the first. A null random turns off the dropout between the layers, as in evaluation.
/// Throws ShapeError if a shape differs from these, IndexError if a length is not in [0, T]; the constructor throws
/// ValueError if there is no layer or dropout is not in [0, 1].
struct Lstm {
  RecurrentOptions options;
  LstmCell cell;                  // of the first layer
  std::vector<LstmCell> further;  // the other cells: visited as l0_reverse, l1, l1_reverse, ...

  Lstm(std::int64_t input, std::int64_t hidden, Random& random, const RecurrentOptions& layers = {});
  LstmResult operator()(const Tensor& x, const LstmState& state = {}, const Tensor& lengths = {},
                        Random* random = nullptr) const;
  void visit(auto&& see) const { cell.visit(see), visit_further_cells(further, options, see); }
};

}  // namespace retrace
