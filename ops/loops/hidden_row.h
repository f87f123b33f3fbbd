// Rows that a mask or a length hides from the result, such as padding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace retrace {

/// Whether a normalised row held NaN or an infinity, so that its 1 / deviation is no ordinary number, and no gradient
/// arrives at it: then none leaves it either, although 0 times NaN is NaN.
template <class T> bool is_hidden_row(const T* dy, T inverse, std::int64_t length) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isfinite(inverse) && inverse > 0) return false;
    return std::all_of(dy, dy + length, [](T gradient) { return gradient == 0; });
  }
  return false;
}

}  // namespace retrace
