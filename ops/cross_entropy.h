// Arguments of log-sum-exp over the rows of a matrix, and of the gradient of a row. Sums are those of softmax.h.
#pragma once

#include <cstdint>

namespace retrace {

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

namespace plain {
template <class T> void log_sum_exp(const LogSumExpRows<T>& args);
template <class T> void scaled_exp(const ScaledExp<T>& args);
}  // namespace plain

}  // namespace retrace
