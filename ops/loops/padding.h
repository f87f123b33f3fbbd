// The padding of sequences of different lengths.
#pragma once

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// x [B, T, ...] with zeros in place of the steps after the end of a sample, first + t >= lengths[b], that hold NaN,
/// infinities or numbers whose squares may overflow: results and gradients, also of x, are those of zeros. Ordinary
/// numbers stay: a gradient of 0 hides them. x itself where there is no such step, or if lengths is not i64 [B], which
/// is for the caller to refuse.
Tensor with_harmless_padding(const Tensor& x, const Tensor& lengths, std::int64_t first = 0);

}  // namespace retrace
