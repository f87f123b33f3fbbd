#include <retrace/tests/golden_test/modules.h>

namespace retrace::golden {
namespace {

/// A mask [B, Lq, Lk] of the reference is one for each sample.
Tensor mask_of(const Arguments& c) {
  const Tensor mask = c.optional("mask");
  return mask.defined() && mask.rank() == 3 ? unsqueeze(mask, 1) : mask;
}

NamedTensors run_sdpa(const Arguments& c) {
  const auto [y, weights] =
      attention_with_weights(c.first({"q", "x"}), c.first({"k", "x"}), c.first({"v", "x"}), {.mask = mask_of(c)});
  return {{"y", y}, {"w", weights}};
}

/// x W + b as a Linear, whose weight is W^T.
Linear projection(const Arguments& c, const std::string& name) {
  return make_linear(transpose(c["W_" + name]), c.optional("b_" + name));
}

AttentionResult run_module(const Arguments& c, const Tensor& q, const Tensor& k, const Tensor& v) {
  Random random;
  MultiHeadAttention module(q.dim(-1), random, {.heads = static_cast<int>(c.integer("heads"))});
  module.query = projection(c, "q");
  module.key = projection(c, "k");
  module.value = projection(c, "v");
  module.out = projection(c, "o");
  return module(q, k, v, mask_of(c));
}

/// Runs cases with biases by the module, those without by the function.
NamedTensors run_mha(const Arguments& c) {
  const Tensor &q = c.first({"q", "x"}), &k = c.first({"k", "x"}), &v = c.first({"v", "x"});
  const bool has_bias = c.has("b_q") || c.has("b_k") || c.has("b_v") || c.has("b_o");
  const auto [y, weights] = has_bias ? run_module(c, q, k, v)
                                     : multi_head_attention(q, k, v, static_cast<int>(c.integer("heads")), c["W_q"],
                                                            c["W_k"], c["W_v"], c.optional("W_o"), mask_of(c));
  return {{"y", y}, {"w", weights}};
}

}  // namespace

Adapters attention_adapters() { return {{"sdpa", run_sdpa}, {"mha", run_mha}}; }

}  // namespace retrace::golden
