// Heads of k and v that several heads of q share.
#pragma once

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// x [..., T, key_heads d], k or v, as the heads of q see it: [..., heads, T, d], where each head of x comes heads /
/// key_heads times in a row; [..., 1, T, d], which broadcasts, of one head that all share.
Tensor shared_heads(const Tensor& x, std::int64_t key_heads, std::int64_t heads);

}  // namespace retrace
