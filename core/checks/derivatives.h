// Derivatives of functions, without writing down a tape.
//
// Each comes in three forms: of a function of one tensor; of a function of several, f(Tensors); and of a function f()
// of leaves that it uses itself, such as the weights of a model (nn/module/derivatives.h takes them from the model).
// Gradients that x, the leaves and other weights already have stay as they were.
//
// jvp, hvp, jacobian and hessian are exact: f runs on dual numbers (core/tensor/dual.h), in which f32 and f64 tensors
// take part with a tangent of zero. Their results are f64. All functions call f at least once, and throw what it
// throws.
#pragma once

#include <functional>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// y = f(x).
using TensorFunction = std::function<Tensor(const Tensor& x)>;
/// y = f(x), where x are several tensors.
using TensorsFunction = std::function<Tensor(const Tensors& x)>;
/// y = f(), a function of leaves that f uses itself.
using LeafFunction = std::function<Tensor()>;

/// The product J v for y = f(x): one run of f on dual numbers. The result is f64, with the shape of y. Throws
/// ShapeError if v does not have the shape of x.
Tensor jvp(const TensorFunction& f, const Tensor& x, const Tensor& v);
/// The sum over k of J_k v_k. An undefined v_k is zero. Throws ValueError unless there is one v_k per x_k.
Tensor jvp(const TensorsFunction& f, const Tensors& x, const Tensors& v);
/// jvp with respect to leaves. Throws ValueError for a leaf that is named twice or does not want a gradient.
Tensor jvp(const LeafFunction& f, const Tensors& leaves, const Tensors& v);

/// The product J^T u for y = f(x): one forward and one backward. The result has the shape and dtype of x. Throws
/// ShapeError if u does not have the shape of y.
Tensor vjp(const TensorFunction& f, const Tensor& x, const Tensor& u);
/// J_k^T u for each k, with the shape and dtype of x_k.
Tensors vjp(const TensorsFunction& f, const Tensors& x, const Tensor& u);
/// vjp with respect to leaves. Throws as jvp does.
Tensors vjp(const LeafFunction& f, const Tensors& leaves, const Tensor& u);

/// The product H v with the Hessian of a scalar f: one forward and one backward on dual numbers. The result is f64,
/// with the shape of x. Throws ShapeError if v does not have the shape of x.
Tensor hvp(const TensorFunction& f, const Tensor& x, const Tensor& v);
/// The sum over l of H_kl v_l for each k. An undefined v_l is zero. Throws ValueError unless there is one v_l per x_l.
Tensors hvp(const TensorsFunction& f, const Tensors& x, const Tensors& v);
/// hvp with respect to leaves. Throws as jvp does.
Tensors hvp(const LeafFunction& f, const Tensors& leaves, const Tensors& v);

/// The Jacobian [numel(y), numel(x)] of y = f(x), one jvp per column, or one backward per row if there are fewer rows.
Tensor jacobian(const TensorFunction& f, const Tensor& x);
/// The Jacobian [numel(y), n], n elements of all x in order: first the columns of x_0, then those of x_1, ...
Tensor jacobian(const TensorsFunction& f, const Tensors& x);
/// The Jacobian with respect to leaves. Throws as jvp does.
Tensor jacobian(const LeafFunction& f, const Tensors& leaves);

/// The Hessian [numel(x), numel(x)] of a scalar f, one hvp per column.
Tensor hessian(const TensorFunction& f, const Tensor& x);
/// The Hessian [n, n] with respect to the n elements of all x in order.
Tensor hessian(const TensorsFunction& f, const Tensors& x);
/// The Hessian with respect to leaves. Throws as jvp does.
Tensor hessian(const LeafFunction& f, const Tensors& leaves);

/// g = d f / d x of a scalar f, recorded: g is differentiable with respect to x and to every weight that f uses, so a
/// loss may contain a gradient (a gradient penalty, a sensitivity). g has the shape and dtype of x.
///
/// For a cotangent u of g, d <u, g> is the derivative of all gradients of f in the direction u of x. So the backward
/// runs f once on the dual numbers x + e u, with one backward on them: exact for every op, without second derivatives
/// of ops. f is called again then, so it has to compute the same: let it make its random numbers from a generator of
/// its own. g can be differentiated once more by these functions and by a tape, but not twice (a DtypeError).
///
/// Throws ShapeError unless f gives one element, and TapeError if f uses a result of the tape around it that is not
/// among the x.
Tensor gradient(const TensorFunction& f, const Tensor& x);
/// g_k = d f / d x_k for each k.
Tensors gradient(const TensorsFunction& f, const Tensors& x);
/// The recorded gradients with respect to leaves. Throws as jvp does.
Tensors gradient(const LeafFunction& f, const Tensors& leaves);

/// The gradient of a scalar f by central differences with this step, in f64 and without autodiff.
Tensor numerical_gradient(const TensorFunction& f, const Tensor& x, double step = 1e-5);

}  // namespace retrace
