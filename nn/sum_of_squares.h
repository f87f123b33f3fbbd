// The squared norm of numbers, for optimisers and clipping.
#pragma once

#include <span>

namespace retrace {

/// The sum of x^2 over the values x, in f64.
template <class T> double sum_of_squares(std::span<T> values) {
  double squares = 0;
  for (const T value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return squares;
}

}  // namespace retrace
