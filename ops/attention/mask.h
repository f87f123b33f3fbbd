// The shape of attention's weights, and masks that fit them.
#pragma once

#include <retrace/ops/ops.h>

namespace retrace {

/// [..., heads, queries, keys], without the axis of the heads for one head; q is [..., queries, features].
Shape attention_weights_shape(const Shape& q, std::int64_t keys, int heads);

/// [..., heads, queries, keys], also for one head: what masks broadcast to.
Shape attention_scores_shape(const Shape& q, std::int64_t keys, int heads);
/// Throws ShapeError if the mask does not broadcast to the scores.
void check_attention_mask(const char* function, const Tensor& mask, const Shape& scores);
/// An additive mask of this dtype: an i64 mask hides where it is 0. One of dual numbers stays what it is.
Tensor as_additive(const Tensor& mask, Dtype dtype);
/// The mask as an additive one of a dtype that broadcasts to the weights; nothing for nothing. Throws ShapeError where
/// it does not broadcast to the scores.
Tensor additive_mask(const Tensor& mask, const Shape& scores, Dtype dtype);
/// 0 where query i sees key j, that is j <= i, and -inf elsewhere.
Tensor upper_left_mask(std::int64_t queries, std::int64_t keys, Dtype dtype);

}  // namespace retrace
