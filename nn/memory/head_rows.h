// Rows of several heads, step by step, for modules with a matrix memory per head.
#pragma once

#include <initializer_list>

#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/recurrent.h>

namespace retrace {

/// x [B, T, heads d] -> [B heads, T, d]: the rows of each head.
inline Tensor rows_of_heads(const Tensor& x, int heads) {
  return reshape(split_heads(x, heads), {x.dim(0) * heads, x.dim(1), x.dim(2) / heads});
}

/// x[t], which shares the storage of x.
inline Tensor row_at(const Tensor& x, std::int64_t t) { return slice(x, {t}); }

/// next [B heads, ...] for samples that have step t, t < lengths[b], else before: see state_after.
inline Tensor heads_after(std::int64_t t, const Tensor& lengths, const Tensor& next, const Tensor& before) {
  if (!lengths.defined()) return next;
  const auto by_sample = [&](const Tensor& x) { return reshape(x, {lengths.dim(0), x.numel() / lengths.dim(0)}); };
  return reshape(state_after(t, lengths, by_sample(next), by_sample(before)), next.shape());
}

/// [B heads, T] (i64): 1 at the steps t >= lengths[b], after the end of a sample, 0 elsewhere.
Tensor after_end(const Tensor& lengths, std::int64_t heads, std::int64_t time);

/// Throws ShapeError, naming the module, unless x is [B, T, features] with T of 1 or more, the memory (if defined) of
/// the shape [B, ...] and lengths (if defined) [B]; IndexError if a length is not in [0, T].
void check_heads(const char* layer, const Tensor& x, std::int64_t features, const Tensor& memory, const Shape& shape,
                 const Tensor& lengths);

/// heads and their size. Throws ValueError, naming the module, if one of them is not positive.
void check_head_sizes(const char* layer, int heads, std::int64_t head_size);

/// A Linear whose weight [sum of rows, features] has blocks of these rows, each Glorot-uniform by itself.
Linear linear_of_blocks(const char* layer, std::initializer_list<std::int64_t> rows, std::int64_t features,
                        Random& random);

}  // namespace retrace
