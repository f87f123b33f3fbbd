#pragma once

#include <cmath>

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {

struct Tanh {
  static constexpr OpInfo info{"tanh", "y = tanh x", "dx = dy (1 - y^2)", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x, Attributes) {
    using std::tanh;
    return tanh(x);
  }
  template <class T> static T slope(T, T y, Attributes) { return 1 - y * y; }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::tanh;
  template <class T> static constexpr auto gradient_kernel = &kernels::MapKernels<T>::tanh_gradient;
};

}  // namespace retrace
