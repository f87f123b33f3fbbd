// A function that is not made of ops, with the vector-Jacobian product that its author wrote, as one record of a tape.
#pragma once

#include <functional>
#include <memory>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Values and gradients by code that only knows plain numbers, in f64; integers among x are constants.
struct ForeignFunction {
  std::function<Tensors(const Tensors& x)> value;
  /// For each x, J^T dy, with the shape of x; dy has one tensor for each result. An undefined tensor is no gradient.
  std::function<Tensors(const Tensors& x, const Tensors& dy)> vjp;
};

/// The results of f, recorded as an op whose backward is f.vjp, so that gradcheck() checks it. Throws
/// DifferencesOnlyError for dual numbers and DtypeError for f32; the backward throws ValueError or ShapeError for
/// gradients that do not fit x.
Tensors call_foreign(const std::shared_ptr<const ForeignFunction>& f, const Tensors& x);

}  // namespace retrace
