// The layers without a state of their own: Linear, LayerNorm, Embedding.
#pragma once

#include <optional>

#include <retrace/nn/initialise.h>
#include <retrace/nn/module.h>
#include <retrace/ops/ops.h>

namespace retrace {

struct LinearOptions {
  bool bias = true;
};
/// y = f(x W^T + b): [..., in] -> [..., out], f being the activation. weight [out, in] begins Glorot-uniform,
/// bias [out] zero.
struct Linear {
  Parameter weight;
  std::optional<Parameter> bias;

  Linear(std::int64_t in, std::int64_t out, Random& random, LinearOptions options = {})
      : weight(glorot_uniform(parameter_shape("Linear", "weight", {out, in}), random)) {
    if (options.bias) bias.emplace(zeros(parameter_shape("Linear", "bias", {out})));
  }
  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const {
    const Scope scope(this, "linear");
    return linear(x, weight, bias ? Tensor(*bias) : Tensor(), activation);
  }
  void visit(auto&& see) const { see("weight", weight), see("bias", bias); }
};

/// y = (x - mean) / sqrt(var + eps) weight + bias over the last axis, which has `size` elements, or over the last
/// `axes` together. weight (1 at first) and bias (0) have the shape of the last axes; of fewer than are normalised,
/// each element serves all positions along the others.
struct LayerNorm {
  Parameter weight;
  Parameter bias;
  double eps;
  int axes = 1;

  explicit LayerNorm(std::int64_t size, double epsilon = 1e-5)
      : LayerNorm(parameter_shape("LayerNorm", "weight", {size}), {.eps = epsilon}) {}
  LayerNorm(const Shape& shape, LayerNormOptions options)
      : weight(ones(shape)), bias(zeros(shape)), eps(options.eps), axes(options.axes) {}
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "layer_norm");
    if (weight.rank() == axes) return layer_norm(x, weight, bias, {.axes = axes, .eps = eps});
    return layer_norm(x, {}, {}, {.axes = axes, .eps = eps}) * weight + bias;
  }
  /// Of x + residual.
  Tensor operator()(const Tensor& x, const Tensor& residual) const {
    if (weight.rank() != axes) return (*this)(x + residual);
    const Scope scope(this, "layer_norm");
    return residual_layer_norm(x, residual, weight, bias, {.axes = axes, .eps = eps});
  }
  void visit(auto&& see) const { see("weight", weight), see("bias", bias); }
};

/// ids [...] -> [..., features]: rows of weight [count, features], which begins standard normal.
struct Embedding {
  Parameter weight;

  Embedding(std::int64_t count, std::int64_t features, Random& random)
      : weight(random.normal(parameter_shape("Embedding", "weight", {count, features}))) {}
  Tensor operator()(const Tensor& ids) const {
    const Scope scope(this, "embedding");
    return embedding(weight, ids);
  }
  void visit(auto&& see) const { see("weight", weight); }
};

}  // namespace retrace
