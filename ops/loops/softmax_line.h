// The largest element of a line of numbers that need not be neighbours.
#pragma once

#include <cstdint>
#include <limits>

namespace retrace {

/// The largest of the elements that are not NaN; -inf if there is none.
template <class T> T largest(const T* x, std::int64_t length, std::int64_t stride) {
  T max_x = static_cast<T>(-std::numeric_limits<double>::infinity());
  for (std::int64_t k = 0; k < length * stride; k += stride) max_x = x[k] > max_x ? x[k] : max_x;
  return max_x;
}

}  // namespace retrace
