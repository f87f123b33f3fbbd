// The twin of attention, composed of other ops: what Tape({.expand_fused = true}) shows of its inside.
#include <retrace/ops/attention/composed.h>

#include <retrace/ops/attention/shared_heads.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

// Only the -inf of an additive mask, which hide keys; its other elements are 0.
Tensor hiding_part(const Tensor& mask) {
  const Tensor constant = mask.detach();
  return where(equal(constant, minus_infinity), constant, full({}, 0, constant.dtype()));
}

}  // namespace

AttentionResult composed_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionHeads& heads,
                                   const HiddenKeys& hidden) {
  // One head is not worth an axis.
  const bool is_one = heads.of_queries == 1;
  const Tensor heads_q = is_one ? q : split_heads(q, static_cast<int>(heads.of_queries));
  const Tensor heads_k = is_one ? k : shared_heads(k, heads.of_keys, heads.of_queries);
  const Tensor heads_v = is_one ? v : shared_heads(v, heads.of_keys, heads.of_queries);
  const bool hides = hidden.causal || hidden.mask.defined();
  const Zeros zeros = hides ? Zeros::strong : Zeros::ordinary;  // of the weights of hidden keys
  const Tensor products = matmul(heads_q, heads_k, {.transpose_b = true, .zeros = zeros});
  Tensor scores = intermediate("scores", scale(products, heads.scale)), mask = hidden.mask;
  if (hidden.wants_gradient()) {  // which the mask of softmax does not get
    scores = add(scores, mask);
    mask = hiding_part(mask);
  }
  if (hidden.causal) {
    const Tensor future = causal_mask(scores.dim(-2), scores.dim(-1), scores.dtype());
    mask = mask.defined() ? add(mask, future) : future;
  }
  const Tensor weights = intermediate("weights", softmax(scores, -1, mask));
  const Tensor y = intermediate("heads", matmul(weights, heads_v, {.zeros = zeros}));
  return {is_one ? y : combine_heads(y), weights};
}

}  // namespace retrace
