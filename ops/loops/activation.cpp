#include <retrace/ops/loops/activation.h>

namespace retrace {

const ActivationParts* parts_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return &relu_parts;
    case Activation::tanh:
      return &tanh_parts;
    case Activation::sigmoid:
      return &sigmoid_parts;
    case Activation::gelu:
      return &gelu_parts;
    case Activation::gelu_tanh:
      return &gelu_tanh_parts;
    case Activation::none:
      break;
  }
  return nullptr;
}

std::string name_of(Activation activation) {
  const ActivationParts* f = parts_of(activation);
  return f == nullptr ? "none" : f->name;
}

Tensor activate(const Tensor& z, Activation activation) {
  const ActivationParts* f = parts_of(activation);
  return f == nullptr ? z : f->op(z);
}

}  // namespace retrace
