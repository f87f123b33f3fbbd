#include <retrace/ops/loops/activation.h>

namespace retrace {

Tensor activate(const Tensor& z, Activation activation) {
  return dispatch_activation(activation, [&]<class F>(F) {
    if constexpr (std::is_same_v<F, Identity>)
      return z;
    else
      return unary<F>(z);
  });
}

}  // namespace retrace
