#include <cmath>

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Exp {
  static constexpr OpInfo info{"exp", "y = e^x", "dx = dy y", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x, Attributes) {
    using std::exp;
    return exp(x);
  }
  template <class T> static T slope(T, T y, Attributes) { return y; }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::exp;
  template <class T> static constexpr auto gradient_kernel = &kernels::MapKernels<T>::by_slope;
};

}  // namespace

Tensor exp(const Tensor& x) { return unary<Exp>(x); }

}  // namespace retrace
