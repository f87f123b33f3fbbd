// Derivatives with respect to all weights of a module. y = f(module); directions and results go by the order of
// parameters(module). See core/checks/derivatives.h.
//
//   const Tensors v = ...;                                       // one direction per parameter
//   Tensors hv = hvp(model, [&](const Model& m) { return loss(m(x)); }, v);
#pragma once

#include <string>
#include <vector>

#include <retrace/core/checks/derivatives.h>
#include <retrace/nn/module/module.h>

namespace retrace {

/// The derivative of y in the direction v of the weights, f64: see jvp in core.
template <Module M, class F> Tensor jvp(const M& module, F&& f, const Tensors& v) {
  return jvp(LeafFunction([&] { return f(module); }), parameter_tensors(module), v);
}
/// The gradient of <u, y>, one tensor per parameter: see vjp in core.
template <Module M, class F> Tensors vjp(const M& module, F&& f, const Tensor& u) {
  return vjp(LeafFunction([&] { return f(module); }), parameter_tensors(module), u);
}
/// The Hessian of a scalar y times v, one f64 tensor per parameter: see hvp in core.
template <Module M, class F> Tensors hvp(const M& module, F&& f, const Tensors& v) {
  return hvp(LeafFunction([&] { return f(module); }), parameter_tensors(module), v);
}
/// The Jacobian [numel(y), count_parameters(module)], f64: see jacobian in core.
template <Module M, class F> Tensor jacobian(const M& module, F&& f) {
  return jacobian(LeafFunction([&] { return f(module); }), parameter_tensors(module));
}
/// The Hessian [n, n] of a scalar y, n = count_parameters(module), f64: see hessian in core.
template <Module M, class F> Tensor hessian(const M& module, F&& f) {
  return hessian(LeafFunction([&] { return f(module); }), parameter_tensors(module));
}
/// The recorded gradient of a scalar y, one tensor per parameter: see gradient in core. The module has to stay where it
/// is until the tape has been walked, because f is called again then.
template <Module M, class F> Tensors gradient(const M& module, F f) {
  return gradient(LeafFunction([&module, f] { return f(module); }), parameter_tensors(module));
}

/// The gradient of each sample's own loss: for sample b of `samples`, the gradient of the scalar loss(b), which uses
/// the module's weights. One tensor [samples, ...] per parameter, by its name. Takes one forward and one backward per
/// sample. Gradients that weights already have stay as they were. Throws ValueError for a negative number of samples,
/// ShapeError if a loss has not one element.
std::vector<NamedTensor> per_sample_gradients(const std::vector<NamedTensor>& parameters, std::int64_t samples,
                                              const std::function<Tensor(std::int64_t sample)>& loss);
/// per_sample_gradients of loss(module, b).
template <Module M, class F>
std::vector<NamedTensor> per_sample_gradients(const M& module, std::int64_t samples, F&& loss) {
  return per_sample_gradients(parameters(module), samples, [&](std::int64_t b) { return loss(module, b); });
}

}  // namespace retrace
