// Attention as a composition of other ops.
#pragma once

#include <retrace/ops/attention/recorded.h>

namespace retrace {

/// The result of attention_with_weights, for operands that fit each other and an additive mask (or none) that
/// broadcasts to the weights.
AttentionResult composed_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionHeads& heads,
                                   const HiddenKeys& hidden);

}  // namespace retrace
