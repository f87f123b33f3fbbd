// The activations that other ops contain: linear, the GRU, and the recurrent layer of Elman.
#pragma once

#include <string>
#include <type_traits>

#include <retrace/core/tensor/dual.h>
#include <retrace/ops/kernels/gemm.h>
#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// The loops of an activation f over elements of type T, in the order of memory.
template <class T> struct ActivationLoops {
  /// values[k] = f(values[k]), and slopes[k] = its derivative, unless slopes is null.
  kernels::ActivationFunction<T> apply;
  /// dz[k] = dy[k] f'(z[k]), from y[k] or the slope, whichever the op saves. dz may be dy.
  void (*gradient)(const T* saved, const T* dy, T* dz, std::int64_t count);
};

/// An activation as other ops contain it. Each is defined beside its op.
struct ActivationParts {
  const char* name;  // of the op
  const char* y;     // its formula in terms of z
  const char* dz;    // that of the gradient in terms of dy, y and z
  bool saves_slope;  // else y
  Tensor (*op)(const Tensor& z);
  ActivationLoops<float> of_floats;
  ActivationLoops<double> of_doubles;
  ActivationLoops<Dual> of_duals;

  template <class T> const ActivationLoops<T>& of() const {
    if constexpr (std::is_same_v<T, float>)
      return of_floats;
    else if constexpr (std::is_same_v<T, double>)
      return of_doubles;
    else
      return of_duals;
  }
};

extern const ActivationParts relu_parts, tanh_parts, sigmoid_parts, gelu_parts, gelu_tanh_parts;

/// The parts of an activation; null for none.
const ActivationParts* parts_of(Activation activation);

/// "relu"; "none".
std::string name_of(Activation activation);

/// The activation as an op of its own; z itself for none.
Tensor activate(const Tensor& z, Activation activation);

/// The loops of an op of one tensor (see unary.h) that saves y or its slope.
template <class Op, class T> constexpr ActivationLoops<T> activation_loops() {
  return {.apply =
              [](T* values, T* slopes, std::int64_t count) {
                if constexpr (Op::saves == Saves::slope) {
                  if (slopes != nullptr) return map_values_and_slopes<Op>(values, values, slopes, count, {});
                }
                map_values<Op>(values, values, count, {});
              },
          .gradient =
              [](const T* saved, const T* dy, T* dz, std::int64_t count) {
                map_gradients<Op, T>(saved, dy, {dz, false}, count, {});
              }};
}

template <class Op> constexpr ActivationParts parts_of(const char* y, const char* dz, Tensor (*op)(const Tensor& z)) {
  return {.name = Op::info.name,
          .y = y,
          .dz = dz,
          .saves_slope = Op::saves == Saves::slope,
          .op = op,
          .of_floats = activation_loops<Op, float>(),
          .of_doubles = activation_loops<Op, double>(),
          .of_duals = activation_loops<Op, Dual>()};
}

}  // namespace retrace
