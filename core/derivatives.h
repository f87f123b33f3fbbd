// Derivatives of functions, without writing down a tape.
#pragma once

#include <functional>

#include <retrace/core/tensor.h>

namespace retrace {

/// y = f(x).
using TensorFunction = std::function<Tensor(const Tensor& x)>;

/// The product J v for y = f(x), exactly: one run of f on dual numbers. The result is f64, with the shape of y. Throws
/// ShapeError if v does not have the shape of x.
Tensor jvp(const TensorFunction& f, const Tensor& x, const Tensor& v);
/// The product J^T u for y = f(x): one forward and one backward. The result has the shape and dtype of x. Throws
/// ShapeError if u does not have the shape of y.
Tensor vjp(const TensorFunction& f, const Tensor& x, const Tensor& u);
/// The product H v with the Hessian of a scalar f, exactly: one backward on dual numbers. The result is f64, with the
/// shape of x. Throws ShapeError if v does not have the shape of x.
Tensor hvp(const TensorFunction& f, const Tensor& x, const Tensor& v);
/// The Jacobian [numel(y), numel(x)] of y = f(x), in f64, one jvp per column.
Tensor jacobian(const TensorFunction& f, const Tensor& x);
/// The gradient of a scalar f by central differences with this step, in f64 and without autodiff.
Tensor numerical_gradient(const TensorFunction& f, const Tensor& x, double step = 1e-5);

}  // namespace retrace
