// The twin of attention, composed of other ops: what Tape({.expand_fused = true}) shows of its inside.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <retrace/ops/attention_composed.h>

namespace retrace {
namespace {

// x with two axes, counted from the last, exchanged.
Tensor exchange(const Tensor& x, int a, int b) {
  std::array<int, max_rank> permutation{};
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[static_cast<std::size_t>(x.rank() - a)], permutation[static_cast<std::size_t>(x.rank() - b)]);
  return transpose(x, std::span<const int>(permutation.data(), static_cast<std::size_t>(x.rank())));
}

// [..., T, H d] -> [..., H, T, d]
Tensor split_heads(const Tensor& x, int heads) {
  if (heads == 1) return x;
  const int rank = x.rank();
  return exchange(reshape(x, x.shape().replaced(rank - 1, heads).inserted(rank, x.dim(-1) / heads)), 2, 3);
}

// [..., H, T, d] -> [..., T, H d]
Tensor combine_heads(const Tensor& x, int heads) {
  if (heads == 1) return x;
  const int rank = x.rank();
  const Tensor together = exchange(x, 2, 3);
  return reshape(together, together.shape().erased(rank - 1).replaced(rank - 2, x.dim(-1) * heads));
}

// 0 where query i may see key j, -inf elsewhere.
Tensor causal_mask(std::int64_t queries, std::int64_t keys, Dtype dtype) {
  Tensor mask = zeros({queries, keys}, dtype);
  dispatch_real(dtype, "attention", [&](auto zero) {
    using T = decltype(zero);
    T* values = mask.mutable_values<T>().data();
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = std::max<std::int64_t>(i + 1 + keys - queries, 0); j < keys; ++j)
        values[i * keys + j] = static_cast<T>(-std::numeric_limits<double>::infinity());
  });
  return mask;
}

}  // namespace

AttentionResult composed_attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads, bool causal,
                                   const Tensor& mask) {
  const Tensor heads_q = split_heads(q, heads), heads_k = split_heads(k, heads), heads_v = split_heads(v, heads);
  const std::int64_t features = std::max<std::int64_t>(heads_q.dim(-1), 1);  // without any, all scores are 0
  const Tensor scores =
      scale(matmul(heads_q, heads_k, {.transpose_b = true}), 1 / std::sqrt(static_cast<double>(features)));
  Tensor hidden = mask;
  if (causal) {
    const Tensor future = causal_mask(scores.dim(-2), scores.dim(-1), scores.dtype());
    hidden = mask.defined() ? add(mask, future) : future;
  }
  const Tensor weights = softmax(scores, -1, hidden);
  return {combine_heads(matmul(weights, heads_v), heads), weights};
}

}  // namespace retrace
