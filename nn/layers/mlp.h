// A multilayer perceptron.
#pragma once

#include <cstdint>
#include <vector>

#include <retrace/nn/layers/layers.h>

namespace retrace {

/// The activation between the layers of an Mlp.
struct MlpOptions {
  Activation activation = Activation::relu;
  double dropout = 0;  // the probability to drop an activation
  bool bias = true;
};
/// x -> W_n f(... f(W_1 x + b_1) ...) + b_n: Linear layers with an activation and dropout between them, none after the
/// last. sizes are the features of the input, of each hidden layer and of y: Mlp({3, 32, 32, 2}, random). A null random
/// turns off the dropout. Throws ShapeError if the last axis of x is not sizes[0]; the constructor throws ValueError
/// for fewer than two sizes or a dropout outside of [0, 1].
struct Mlp {
  std::vector<Linear> layers;
  MlpOptions options;

  Mlp(const std::vector<std::int64_t>& sizes, Random& random, const MlpOptions& choices = {});
  Tensor operator()(const Tensor& x, Random* random = nullptr) const;
  void visit(auto&& see) const { see("layers", layers); }
};

}  // namespace retrace
