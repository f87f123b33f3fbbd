#include <retrace/ops/loops/activation.h>

namespace retrace {
namespace {

struct Tanh {
  static constexpr OpInfo info{"tanh", "y = tanh x", "dx = dy (1 - y^2)", "x"};
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x) { return tanh(x); }
  template <class T> static T slope(T, T y) { return 1 - y * y; }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::tanh;
  template <class T> static constexpr auto gradient_kernel = &kernels::MapKernels<T>::tanh_gradient;
};

}  // namespace

Tensor tanh(const Tensor& x) { return unary<Tanh>(x); }

constinit const ActivationParts tanh_parts = parts_of<Tanh>("tanh z", "dy (1 - y^2)", tanh);

}  // namespace retrace
