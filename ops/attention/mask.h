// The shape of attention's weights, and masks that fit them.
#pragma once

#include <retrace/ops/ops.h>

namespace retrace {

/// [..., heads, queries, keys], without the axis of the heads for one head; q is [..., queries, features].
Shape attention_weights_shape(const Shape& q, std::int64_t keys, int heads);

/// The mask as an additive one of a dtype that broadcasts to the weights; nothing for nothing. Throws ShapeError where
/// it does not fit.
Tensor additive_mask(const Tensor& mask, const Shape& weights, Dtype dtype, int heads);

}  // namespace retrace
