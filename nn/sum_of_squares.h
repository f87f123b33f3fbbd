// The squared norm of a row of numbers, summed in f64.
#pragma once

#include <span>

namespace retrace {

template <class T> double sum_of_squares(std::span<T> values) {
  double squares = 0;
  for (const T value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return squares;
}

}  // namespace retrace
