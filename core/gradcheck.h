// Checks gradients twice: against finite differences, and against dual numbers.
//
// Central differences in f64, extrapolated to a step of 0, for every element of every input, against what backward
// gives for a random cotangent (never for sum(): the summed output of a softmax has no gradient at all, so it would
// hide any error). And exactly: dual numbers through the same function give J v, and u.(J v) must be (J^T u).v.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <retrace/core/tensor.h>

namespace retrace {

/// Any function of tensors; integers among the inputs are constants.
using Function = std::function<Tensors(const Tensors& inputs)>;

struct GradcheckOptions {
  double limit = 1e-8;                  // of the finite differences
  double exact_limit = 1e-12;           // of the dual numbers
  double step = 4e-3;                   // the largest, times max(1, |x|)
  std::uint64_t seed = 0;               // of cotangents and directions
  std::vector<double> kinks = {};       // inputs so close to one that a difference would straddle it are skipped
  std::vector<std::string> names = {};  // of the inputs, for the report
  std::int64_t most_elements = 3000;    // beyond, that many are drawn at random
};

/// One element of one input.
struct GradcheckElement {
  std::string input;
  std::int64_t index = 0;
  double analytic = 0;
  double numeric = 0;
  double error = 0;  // |analytic - numeric| / max(|analytic|, |numeric|, rms of the input's gradient, 1e-6)
};

/// Whether error a is worse than error b. NaN is the worst of all.
inline bool is_worse(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

struct GradcheckResult {
  std::int64_t elements = 0;  // checked
  std::int64_t skipped = 0;   // too close to a kink
  double worst_error = 0;
  double exact_error = 0;               // |u.(J v) - (J^T u).v|, over the sum of the absolute terms
  std::vector<GradcheckElement> worst;  // the worst first, at most ten
  double limit = 0;
  double exact_limit = 0;

  /// The rule that the report prints. NaN is a failure.
  bool passed() const { return worst_error <= limit && exact_error <= exact_limit; }
};
/// "gradcheck passed: ...", and for a failure the worst elements with their ratio (2.000 and -1.000 tell the bug).
std::ostream& operator<<(std::ostream& out, const GradcheckResult& result);

/// Checks f at the inputs, which are converted to f64. Throws ValueError if f draws random numbers.
GradcheckResult gradcheck(const Function& f, const Tensors& inputs, const GradcheckOptions& options = {});
/// The same for a function of one tensor.
template <class F>
requires std::is_invocable_r_v<Tensor, F, const Tensor&> GradcheckResult
gradcheck(F&& f, const Tensor& x, const GradcheckOptions& options = {}) {
  return gradcheck(Function([&](const Tensors& inputs) { return Tensors{f(inputs[0])}; }), {x}, options);
}

/// Checks f with respect to leaves that it holds itself: their values become f64 copies that are moved in place, then
/// duals, and are given back bit for bit at the end. f must compute in the dtype of the leaves.
GradcheckResult gradcheck_parameters(const std::function<Tensors()>& f,
                                     const std::vector<std::pair<std::string, Tensor>>& parameters,
                                     const GradcheckOptions& options = {});

}  // namespace retrace
