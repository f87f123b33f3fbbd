#include <retrace/nn/clip.h>

#include <algorithm>
#include <cmath>

#include <retrace/nn/sum_of_squares.h>

namespace retrace {
namespace {

void check_limit(const char* function, double limit) {
  if (!(limit > 0)) throw ValueError(text(function, ": the limit is ", limit, "; it must be above 0"));
}

double squared_norm_of_gradient(const Tensor& x) {
  double squares = 0;
  if (x.has_unused_grad())
    dispatch_real(x.dtype(), "clip_norm",
                  [&](auto zero) { squares = sum_of_squares(x.grad_values<decltype(zero)>()); });
  return squares;
}

/// element = change(element) for every element of the gradient.
template <class Change> void change_gradient(const Tensor& x, Change&& change) {
  if (!x.has_unused_grad()) return;
  dispatch_real(x.dtype(), "clip", [&](auto zero) {
    for (auto& element : x.mutable_grad_values<decltype(zero)>()) element = change(element);
  });
}

}  // namespace

double clip_norm(const Tensors& parameters, double limit, ClipRule rule) {
  check_limit("clip_norm", limit);
  double squares = 0;
  for (const Tensor& x : parameters) squares += squared_norm_of_gradient(x);
  const double norm = std::sqrt(squares);
  const double factor =
      rule == ClipRule::exact ? (norm > limit ? limit / norm : 1) : std::min(1.0, limit / (norm + 1e-6));
  if (factor != 1)
    for (const Tensor& x : parameters)
      change_gradient(x, [=]<class T>(T element) { return element * static_cast<T>(factor); });
  return norm;
}

void clip_value(const Tensors& parameters, double limit) {
  check_limit("clip_value", limit);
  for (const Tensor& x : parameters)
    change_gradient(
        x, [=]<class T>(T element) { return std::clamp(element, static_cast<T>(-limit), static_cast<T>(limit)); });
}

}  // namespace retrace
