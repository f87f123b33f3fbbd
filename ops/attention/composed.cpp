// The twin of attention, composed of other ops: what Tape({.expand_fused = true}) shows of its inside.
#include <retrace/ops/attention/composed.h>

#include <retrace/ops/op.h>

namespace retrace {
namespace {

// One head is not worth an axis.
Tensor heads_of(const Tensor& x, int heads) { return heads == 1 ? x : split_heads(x, heads); }

}  // namespace

AttentionResult composed_attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads, bool causal,
                                   const Tensor& mask) {
  const Tensor heads_q = heads_of(q, heads), heads_k = heads_of(k, heads), heads_v = heads_of(v, heads);
  const std::int64_t features = std::max<std::int64_t>(heads_q.dim(-1), 1);        // without any, all scores are 0
  const Zeros zeros = causal || mask.defined() ? Zeros::strong : Zeros::ordinary;  // of the weights of hidden keys
  const Tensor products = matmul(heads_q, heads_k, {.transpose_b = true, .zeros = zeros});
  const Tensor scores = intermediate("scores", scale(products, 1 / std::sqrt(static_cast<double>(features))));
  Tensor hidden = mask;
  if (causal) {
    const Tensor future = causal_mask(scores.dim(-2), scores.dim(-1), scores.dtype());
    hidden = mask.defined() ? add(mask, future) : future;
  }
  const Tensor weights = intermediate("weights", softmax(scores, -1, hidden));
  const Tensor y = intermediate("heads", matmul(weights, heads_v, {.zeros = zeros}));
  return {heads == 1 ? y : combine_heads(y), weights};
}

}  // namespace retrace
