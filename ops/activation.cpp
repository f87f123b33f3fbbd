#include <retrace/ops/activation.h>

namespace retrace {

Tensor activate(const Tensor& z, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return relu(z);
    case Activation::tanh:
      return tanh(z);
    case Activation::sigmoid:
      return sigmoid(z);
    case Activation::gelu:
      return gelu(z);
    case Activation::gelu_tanh:
      return gelu_tanh(z);
    case Activation::none:
      break;
  }
  return z;
}

}  // namespace retrace
