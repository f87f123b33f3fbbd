#include <retrace/ops/loops/activation.h>
#include <retrace/ops/loops/logistic.h>

namespace retrace {
namespace {

// Saves the slope, not y: where y rounds to 1, 1 - y would be 0.
struct Sigmoid {
  static constexpr OpInfo info{"sigmoid", "y = 1 / (1 + e^-x)", "dx = dy y (1 - y)", "x"};
  static constexpr Saves saves = Saves::slope;

  template <class T> static T value(T x) { return logistic(x); }
  template <class T> static T slope(T x, T) { return logistic_slope(x); }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::sigmoid;
};

}  // namespace

Tensor sigmoid(const Tensor& x) { return unary<Sigmoid>(x); }

constinit const ActivationParts sigmoid_parts = parts_of<Sigmoid>("1 / (1 + e^-z)", "dy y (1 - y)", sigmoid);

}  // namespace retrace
