// Checks gradients twice: against finite differences, and against dual numbers.
//
// Central differences in f64, extrapolated to a step of 0, for every element of every input, against what backward
// gives for a random cotangent (never for sum(): the summed output of a softmax has no gradient at all, so it would
// hide any error). And exactly: dual numbers through the same function give J v, and u.(J v) must be (J^T u).v.
//
// All errors are relative to the gradient itself, however small it is: only rounding noise is allowed for. Differences
// cannot decide everywhere. Dual numbers, run for exactly that element, decide
// - where difference and gradient agree within the noise of the difference, about eps |f| / step, and that noise is
//   above the limit: the gradient is 0, or small compared with the values;
// - at a kink, where the slopes on both sides of the element differ, and the gradient lies between them;
// - where differences do not converge: f varies too fast, or is not defined on both sides.
//
// With the option order = 2, all of this is done for the gradients of f: dual numbers go through the backward, and
// their tangents are compared with differences of gradients. An op whose backward drops a tangent fails.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <retrace/core/checks/gradcheck_result.h>
#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Any function of tensors; integers among the inputs are constants.
using Function = std::function<Tensors(const Tensors& inputs)>;

/// Checks f at the inputs, which are converted to f64. A vacuous check fails and reports the reason: the inputs or
/// outputs have no real numbers or no elements; f is NaN there, or does not depend on an input; no element was checked.
/// Throws ValueError if f draws random numbers, and DtypeError, with the remedy, if f cannot compute in f64 or, for the
/// exact check, on dual numbers; ValueError for an order other than 1 and 2.
GradcheckResult gradcheck(const Function& f, const Tensors& inputs, const GradcheckOptions& options = {});
/// gradcheck of a function of several tensors with one result.
inline GradcheckResult gradcheck(const std::function<Tensor(const Tensors& inputs)>& f, const Tensors& inputs,
                                 const GradcheckOptions& options = {}) {
  return gradcheck(Function([&](const Tensors& in) { return Tensors{f(in)}; }), inputs, options);
}
/// gradcheck of a function of one tensor.
template <class F>
requires std::is_invocable_r_v<Tensor, F, const Tensor&> GradcheckResult
gradcheck(F&& f, const Tensor& x, const GradcheckOptions& options = {}) {
  return gradcheck(Function([&](const Tensors& inputs) { return Tensors{f(inputs[0])}; }), {x}, options);
}

/// Checks f with respect to leaves that it holds itself: their values become f64 copies that are moved in place, then
/// duals, and are restored bit for bit at the end. f must compute in the dtype of the leaves. With
/// options.named_by_visit, throws ValueError if f uses any other leaf that wants a gradient.
GradcheckResult gradcheck_parameters(const std::function<Tensors()>& f,
                                     const std::vector<std::pair<std::string, Tensor>>& parameters,
                                     const GradcheckOptions& options = {});

}  // namespace retrace
