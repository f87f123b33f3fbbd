// The activations that other ops contain: linear, and the recurrent layer of Elman.
#pragma once

#include <type_traits>

#include <retrace/ops/gelu.h>
#include <retrace/ops/ops.h>
#include <retrace/ops/relu.h>
#include <retrace/ops/sigmoid.h>
#include <retrace/ops/tanh.h>

namespace retrace {

/// No activation.
struct Identity {};

/// Calls body(F{}) with the struct of an activation (see unary.h), or with Identity{}.
template <class Body> decltype(auto) dispatch_activation(Activation activation, Body&& body) {
  switch (activation) {
    case Activation::relu:
      return body(Relu{});
    case Activation::tanh:
      return body(Tanh{});
    case Activation::sigmoid:
      return body(Sigmoid{});
    case Activation::gelu:
      return body(Gelu{});
    case Activation::gelu_tanh:
      return body(GeluTanh{});
    case Activation::none:
      break;
  }
  return body(Identity{});
}

/// The activation as an op of its own.
Tensor activate(const Tensor& z, Activation activation);

}  // namespace retrace
