// Arguments of softmax and its gradient over the rows of a matrix. The bits of a row depend only on that row. Sums of
// floats are taken as doubles, once four have been added.
#pragma once

#include <algorithm>
#include <cstdint>

namespace retrace {

/// y = softmax(scale x), row by row, scale > 0. A row of -inf alone gives zeros, NaN stays NaN. y may be x. If
/// `causal`, row r is the softmax of its first first_seen + r elements alone, and the others, which are not read,
/// become 0.
template <class T> struct SoftmaxRows {
  const T* x;
  T* y;
  std::int64_t rows, length;
  T scale = 1;
  bool causal = false;
  std::int64_t first_seen = 0;

  std::int64_t seen(std::int64_t row) const {
    return causal ? std::clamp<std::int64_t>(first_seen + row, 0, length) : length;
  }
};

/// dx = (or += with `add`) scale y (dy - sum dy y), row by row. dx may be dy. Zeros are strong: what a mask has hidden,
/// where y is 0, has no effect.
template <class T> struct SoftmaxGradientRows {
  const T *y, *dy;
  T* dx;
  std::int64_t rows, length;
  T scale = 1;
  bool add = false;
};

namespace plain {
template <class T> void softmax(const SoftmaxRows<T>& args);
template <class T> void softmax_gradient(const SoftmaxGradientRows<T>& args);
}  // namespace plain

}  // namespace retrace
