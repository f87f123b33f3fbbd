// Arguments of softmax, its gradient and log-sum-exp over the rows of a matrix. A row's bits depend on that row alone.
// Sums of floats are taken as doubles, once four have been added. Floats and doubles run the kernels of this machine's
// instruction set, any other type the plain loops in ops/softmax.cpp and ops/cross_entropy.cpp, with which they agree
// to a few units in the last place.
#pragma once

#include <algorithm>
#include <cstdint>

namespace retrace::kernels {

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

/// max_x[row] = max x, log_sums[row] = ln sum e^(x - max x), inverse_sums[row] = 1 / sum e^(x - max x).
template <class T> struct LogSumExpRows {
  const T* x;
  T *max_x, *log_sums, *inverse_sums;
  std::int64_t rows, length;
};

/// y = (or += with `add`) factor e^(x - shift).
template <class T> struct ScaledExp {
  const T* x;
  T shift, factor;
  T* y;
  std::int64_t count;
  bool add = false;
};

// The plain loops, for float, double and Dual.
template <class T> void softmax_plain(const SoftmaxRows<T>& args);
template <class T> void softmax_gradient_plain(const SoftmaxGradientRows<T>& args);
template <class T> void log_sum_exp_plain(const LogSumExpRows<T>& args);
template <class T> void scaled_exp_plain(const ScaledExp<T>& args);

}  // namespace retrace::kernels
