// Layers without a state: Linear, LayerNorm, RmsNorm, Embedding, Dropout.
#pragma once

#include <optional>

#include <retrace/nn/layers/initialise.h>
#include <retrace/nn/module/module.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// y = f(x W^T + b) with the activation f: [..., in] -> [..., out]; for zeros see the op linear. Initially weight [out,
/// in] is Glorot-uniform and bias [out] zero. Throws ShapeError if the last axis of x is not `in`.
struct Linear {
  Parameter weight;
  std::optional<Parameter> bias;

  Linear(std::int64_t in, std::int64_t out, Random& random, BiasOptions options = {})
      : weight(glorot_uniform(parameter_shape("Linear", "weight", {out, in}), random)) {
    if (options.bias) bias.emplace(zeros(parameter_shape("Linear", "bias", {out})));
  }
  Tensor operator()(const Tensor& x, Activation activation = Activation::none, Zeros zeros = Zeros::ordinary) const {
    const Scope scope(this, "linear");
    return linear(x, weight, bias ? Tensor(*bias) : Tensor(), activation, zeros);
  }
  void visit(auto&& see) const { see("weight", weight), see("bias", bias); }
};

/// y = (x - mean) / sqrt(var + eps) weight + bias over the last axis, of `size` elements, or over the last `axes` axes
/// together: see the op layer_norm. weight (initially 1) and bias (0) have the shape of the normalised axes, or of
/// fewer last axes; they then broadcast over the others. Without a bias that is undefined, and nothing is added. Throws
/// ShapeError if x does not end in these axes.
struct LayerNorm {
  Parameter weight;
  Parameter bias;
  double eps;
  int axes = 1;

  explicit LayerNorm(std::int64_t size, double epsilon = 1e-5, BiasOptions with = {})
      : LayerNorm(parameter_shape("LayerNorm", "weight", {size}), {.eps = epsilon}, with) {}
  LayerNorm(const Shape& shape, LayerNormOptions options, BiasOptions with = {})
      : weight(ones(shape)), bias(with.bias ? zeros(shape) : Tensor()), eps(options.eps), axes(options.axes) {}
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "layer_norm");
    if (weight.rank() == axes) return layer_norm(x, weight, bias, {.axes = axes, .eps = eps});
    const Tensor scaled = layer_norm(x, {}, {}, {.axes = axes, .eps = eps}) * weight;
    return bias.defined() ? scaled + bias : scaled;
  }
  /// The normalised sum x + residual.
  Tensor operator()(const Tensor& x, const Tensor& residual) const {
    if (weight.rank() != axes) return (*this)(x + residual);
    const Scope scope(this, "layer_norm");
    return residual_layer_norm(x, residual, weight, bias, {.axes = axes, .eps = eps});
  }
  void visit(auto&& see) const { see("weight", weight), see("bias", bias); }
};

/// y = x / sqrt(mean(x^2) + eps) weight over the last axis, of `size` elements: see the op rms_norm. weight is
/// initially
/// 1. Throws ShapeError if the last axis of x has another length.
struct RmsNorm {
  Parameter weight;
  double eps;

  explicit RmsNorm(std::int64_t size, double epsilon = 1e-6)
      : weight(ones(parameter_shape("RmsNorm", "weight", {size}))), eps(epsilon) {}
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "rms_norm");
    return rms_norm(x, weight, eps);
  }
  void visit(auto&& see) const { see("weight", weight); }
};

/// y[..., :] = weight[ids[...], :] for ids [...] (i64) and a weight [count, features] that is initially standard
/// normal. The row of padding_idx is initially 0 and gets no gradient, so that it stays 0. Throws IndexError if an id
/// is not in [0, count), DtypeError if ids is not i64; the constructor throws IndexError if padding_idx is no row.
struct Embedding {
  Parameter weight;
  EmbeddingOptions options;

  Embedding(std::int64_t count, std::int64_t features, Random& random, const EmbeddingOptions& of_padding = {});
  Tensor operator()(const Tensor& ids) const {
    const Scope scope(this, "embedding");
    return embedding(weight, ids, options);
  }
  void visit(auto&& see) const { see("weight", weight); }
};

/// Throws ValueError, naming the layer, unless the probability of its dropout is in [0, 1].
inline void check_probability(const char* layer, double probability) {
  if (!(probability >= 0 && probability <= 1))
    throw ValueError(text(layer, ": the probability of dropout ", probability, " must lie from 0 to 1"));
}

/// y = x m, where m is 0 with the given probability, else 1 / (1 - probability), element by element: see the op
/// dropout. y is x if random is null, as in evaluation. The constructor throws ValueError if the probability is not in
/// [0, 1].
struct Dropout {
  double probability;

  explicit Dropout(double of_zero) : probability(of_zero) { check_probability("Dropout", probability); }
  Tensor operator()(const Tensor& x, Random* random = nullptr) const {
    const Scope scope(this, "dropout");
    return probability > 0 ? dropout(x, probability, random) : x;
  }
  void visit(auto&&) const {}
};

}  // namespace retrace
