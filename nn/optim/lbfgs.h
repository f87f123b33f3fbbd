// L-BFGS, which minimises a loss that is the same at every call, by its curvature.
//
//   const LbfgsResult found = lbfgs(model, [&] { return mse(model(x), target); }, {.max_iterations = 200});
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <retrace/nn/module/module.h>

namespace retrace {

/// The search ends where no component of the gradient is above `gradient_tolerance`, the loss falls by less than
/// `loss_tolerance` times its size, or after `max_iterations` steps, whichever comes first.
struct LbfgsOptions {
  std::int64_t max_iterations = 100;
  std::int64_t history = 10;  // pairs of a step and a change of the gradient that are kept
  double gradient_tolerance = 1e-7;
  double loss_tolerance = 1e-12;
  /// Throws ValueError unless the counts are above 0 and the tolerances finite and 0 or more.
  void check() const;
};

/// Where the search ended.
struct LbfgsResult {
  double loss = 0;
  double gradient = 0;  // its largest component
  std::int64_t iterations = 0;
  std::int64_t evaluations = 0;  // of the loss and its gradient
  bool converged = false;        // before max_iterations
};

/// Minimises loss() over the parameters: w += a d, with d = -H g from the last steps s and changes of the gradient y by
/// the recursion of two loops, and a step a that meets the strong Wolfe conditions, with cubic interpolation (Nocedal
/// and Wright, "Numerical Optimization", 2006, algorithms 7.4, 3.5 and 3.6; c1 = 1e-4, c2 = 0.9). loss() is computed on
/// a tape of its own and returns one number; it must draw nothing at random. Frozen parameters stay as they are. The
/// gradients of the parameters are used up. Throws ValueError for a loss or a gradient at the start that is not finite,
/// and what loss() throws; the weights are then the best that were found.
LbfgsResult lbfgs(const std::vector<NamedTensor>& parameters, const std::function<Tensor()>& loss,
                  const LbfgsOptions& options = {});
/// Minimises loss() over all parameters of a module.
template <Module M>
LbfgsResult lbfgs(const M& module, const std::function<Tensor()>& loss, const LbfgsOptions& options = {}) {
  return lbfgs(parameters(module), loss, options);
}

}  // namespace retrace
