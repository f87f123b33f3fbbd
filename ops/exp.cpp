#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Exp {
  static constexpr OpInfo info{"exp", "y = e^x", "dx = dy y", "x"};
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x) { return exp(x); }
  template <class T> static T slope(T, T y) { return y; }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::exp;
  template <class T> static constexpr auto gradient_kernel = &kernels::MapKernels<T>::by_slope;
};

}  // namespace

Tensor exp(const Tensor& x) { return unary<Exp>(x); }

}  // namespace retrace
