// The twin of attention, composed of other ops: what Tape({.expand_fused = true}) shows of its inside.
#include <retrace/ops/attention/composed.h>

#include <retrace/ops/op.h>

namespace retrace {
namespace {

// One head is not worth an axis.
Tensor heads_of(const Tensor& x, std::int64_t heads) {
  return heads == 1 ? x : split_heads(x, static_cast<int>(heads));
}

// The heads of k or v, each repeated for the heads of q that share it.
Tensor shared_heads_of(const Tensor& x, const AttentionHeads& heads) {
  const Tensor own = heads_of(x, heads.of_keys);
  if (heads.of_keys == heads.of_queries) return own;
  if (heads.of_keys == 1) return unsqueeze(own, -3);  // which broadcasts
  Tensor sharer = empty({heads.of_queries}, i64);
  for (std::int64_t head = 0; head < heads.of_queries; ++head)
    OpAccess::values<std::int64_t>(sharer)[head] = head / (heads.of_queries / heads.of_keys);
  return take(own, sharer, -3);
}

// What hides keys in an additive mask: -inf where this is, else 0.
Tensor hiding_part(const Tensor& mask) {
  const Tensor constant = mask.detach();
  return where(equal(constant, minus_infinity), constant, full({}, 0, constant.dtype()));
}

}  // namespace

AttentionResult composed_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionHeads& heads,
                                   const HiddenKeys& hidden) {
  const Tensor heads_q = heads_of(q, heads.of_queries), heads_k = shared_heads_of(k, heads),
               heads_v = shared_heads_of(v, heads);
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
  return {heads.of_queries == 1 ? y : combine_heads(y), weights};
}

}  // namespace retrace
