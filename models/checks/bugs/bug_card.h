// A card of the collection: a public report of a wrong gradient, replayed on an op of this project.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <retrace/core/core.h>
#include <retrace/ops/checks/check_case.h>
#include <retrace/ops/ops.h>

namespace retrace {

enum class BugClass {
  carry,
  alias,
  overwrite,
  tail,
  rank,
  broadcast,
  ties_and_zeros,
  cotangent,
  head_map,
  mask,
  mask_anew,
  recompute,
  lost_path,
  formula,
  second_order,
  optimiser
};
/// "carry through time", ...
std::string_view name_of(BugClass kind);

/// Gradients of one weight and one bias, a step each.
struct Descent {
  std::vector<std::vector<double>> gradients;  // per step: of the weight, of the bias
};
/// The optimiser of the library, or its formula in plain numbers, right or as in the report.
enum class Version { library, formula, bug };

/// A report. Either `op` or `weights` replays it.
struct BugCard {
  std::string_view source;   // repository#number of the reports and repairs
  std::string_view essence;  // the op: what its backward did
  BugClass kind;
  CheckCase (*op)(bool bug) = nullptr;  // the op with that backward, or with a right one
  std::vector<double> (*weights)(Version version, const Descent& descent) = nullptr;  // after the last step
};

namespace bugs {

// ---- points

/// Reset before each replay, so that the right and the wrong one are at the same point.
inline Random& numbers() {
  static thread_local Random random;
  return random;
}
inline Tensor normal(const Shape& shape) { return numbers().normal(shape, f64); }
inline Tensor positive(const Shape& shape) { return numbers().uniform(shape, 0.5, 2, f64); }

// ---- functions

/// y = forward(inputs) with the gradients backward(dy, inputs, y).
template <class F, class B> CheckCase of(Tensors inputs, F forward, B backward) {
  return {[=](const Tensors& in) { return Tensors{custom_op("replay", in, forward, backward)}; }, std::move(inputs)};
}
/// A function whose ops have the backwards of the library, but where hooks, detached tensors and lost values are
/// planted.
template <class F> CheckCase of(Tensors inputs, F function) { return {function, std::move(inputs)}; }

// ---- what formulas are made of

inline Tensor at(const Tensor& x, std::int64_t t) { return slice(x, {all, t}); }
inline Tensor sum_last(const Tensor& x) { return sum(x, -1, {.keepdims = true}); }
inline Tensor mean_last(const Tensor& x) { return mean(x, -1, {.keepdims = true}); }
/// Numbers in the dtype of x.
inline Tensor like(const Tensor& x, const Tensor& numbers) { return numbers.to(x.dtype()); }
/// x, of whose gradient only factor * dy goes on.
inline Tensor weighted_gradient(const Tensor& x, const Tensor& factor) {
  return on_gradient(x, [=](const Tensor& dy) { return dy * like(dy, factor); });
}
inline Tensor without_gradient(const Tensor& x, bool bug) { return bug ? x.detach() : x; }

}  // namespace bugs
}  // namespace retrace
