#pragma once

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {

struct Relu {
  static constexpr OpInfo info{"relu", "y = max(x, 0)", "dx = dy where x > 0, else 0", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x, Attributes) {
    return x <= 0 ? T(0) : x;  // NaN is not <= 0
  }
  template <class T> static T slope(T, T y, Attributes) { return y > 0 ? T(1) : T(0); }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::relu;
  template <class T> static constexpr auto gradient_kernel = &kernels::MapKernels<T>::relu_gradient;
};

}  // namespace retrace
