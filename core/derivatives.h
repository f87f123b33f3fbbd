// Derivatives of functions, without writing down a tape.
#pragma once

#include <functional>

#include <retrace/core/tensor.h>

namespace retrace {

using TensorFunction = std::function<Tensor(const Tensor& x)>;

/// J v for y = f(x), exactly: one run of f on dual numbers. f64; the result has y's shape.
Tensor jvp(const TensorFunction& f, const Tensor& x, const Tensor& v);
/// J^T u: one forward and one backward. The result has x's shape and dtype.
Tensor vjp(const TensorFunction& f, const Tensor& x, const Tensor& u);
/// H v for a scalar f, exactly: a backward on dual numbers. f64; the result has x's shape.
Tensor hvp(const TensorFunction& f, const Tensor& x, const Tensor& v);
/// J [elements of y, elements of x], a column a jvp. f64.
Tensor jacobian(const TensorFunction& f, const Tensor& x);
/// The gradient of a scalar f by central differences of the given step, with no autodiff in it. f64.
Tensor numerical_gradient(const TensorFunction& f, const Tensor& x, double step = 1e-5);

}  // namespace retrace
