// softmax of one line of numbers: what the op softmax and attention share.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/ordered_sum.h>

namespace retrace {

/// The largest of the elements that are not NaN; -inf if there is none.
template <class T>
T largest(const T* x, std::int64_t length, std::int64_t stride) {
  T most = static_cast<T>(-std::numeric_limits<double>::infinity());
  for (std::int64_t k = 0; k < length * stride; k += stride) most = x[k] > most ? x[k] : most;
  return most;
}

/// y = e^(x - most), by the vector kernel where the elements are neighbours.
template <class T>
void exp_of_differences(const T* x, T most, T* y, std::int64_t length, std::int64_t stride) {
  if constexpr (std::is_floating_point_v<T>) {
    if (stride == 1) {
      for (std::int64_t k = 0; k < length; ++k) y[k] = x[k] - most;
      kernels::exp(y, y, length);
      return;
    }
  }
  using std::exp;
  for (std::int64_t k = 0; k < length * stride; k += stride) y[k] = exp(x[k] - most);
}

/// y = softmax(x), for `length` elements that are `stride` apart. A line of nothing but -inf gives zeros; NaN gives NaN.
/// y may be x.
template <class T>
void softmax_line(const T* x, T* y, std::int64_t length, std::int64_t stride) {
  using std::isinf;
  const T most = largest(x, length, stride);
  if (isinf(most) && most < T(0)) {  // nothing is left of this line; NaN stays
    for (std::int64_t k = 0; k < length * stride; k += stride) y[k] = x[k] == most ? T(0) : x[k];
    return;
  }
  exp_of_differences(x, most, y, length, stride);
  const T sum = ordered_sum<T>(length, [=](std::int64_t k) { return y[k * stride]; });
  const T one_over_sum = T(1) / sum;
  for (std::int64_t k = 0; k < length * stride; k += stride) y[k] *= one_over_sum;
}

}  // namespace retrace
