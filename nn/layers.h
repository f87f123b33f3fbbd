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
/// y = x W^T + b: [..., in] -> [..., out]. weight [out, in] begins Glorot-uniform, bias [out] zero.
struct Linear {
  Parameter weight;
  std::optional<Parameter> bias;

  Linear(std::int64_t in, std::int64_t out, Random& random, LinearOptions options = {})
      : weight(glorot_uniform({out, in}, random)) {
    if (options.bias) bias.emplace(zeros({out}));
  }
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "linear");
    return linear(x, weight, bias ? Tensor(*bias) : Tensor());
  }
  void visit(auto&& see) const { see("weight", weight), see("bias", bias); }
};

/// y = (x - mean) / sqrt(var + eps) weight + bias over the last axis, which has `size` elements; weight 1, bias 0 at
/// first.
struct LayerNorm {
  Parameter weight;
  Parameter bias;
  double eps;

  explicit LayerNorm(std::int64_t size, double epsilon = 1e-5)
      : weight(ones({size})), bias(zeros({size})), eps(epsilon) {}
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "layer_norm");
    return layer_norm(x, weight, bias, {.eps = eps});
  }
  void visit(auto&& see) const { see("weight", weight), see("bias", bias); }
};

/// ids [...] -> [..., features]: rows of weight [count, features], which begins standard normal.
struct Embedding {
  Parameter weight;

  Embedding(std::int64_t count, std::int64_t features, Random& random) : weight(random.normal({count, features})) {}
  Tensor operator()(const Tensor& ids) const {
    const Scope scope(this, "embedding");
    return embedding(weight, ids);
  }
  void visit(auto&& see) const { see("weight", weight); }
};

}  // namespace retrace
