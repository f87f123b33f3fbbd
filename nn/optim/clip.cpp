#include <retrace/nn/optim/clip.h>

#include <algorithm>

#include <retrace/nn/optim/norm_of_numbers.h>
#include <retrace/nn/optim/number_range.h>

namespace retrace {
namespace {

void check_limit(const char* function, double limit) {
  check_number(function, "the limit", limit, above_0, "such as 1; an infinite one clips nothing");
}

NormOfNumbers norm_of_gradients(const Tensors& parameters) {
  return norm_of_numbers([&](auto&& term) {
    double sum = 0;
    for (const Tensor& x : parameters)
      if (x.has_unused_grad())
        sum += dispatch_real(x.dtype(), "clip_norm",
                             [&](auto zero) { return sum_of_terms(x.grad_values<decltype(zero)>(), term); });
    return sum;
  });
}

/// element = change(element) for every element of the gradient.
template <class Change> void change_gradient(const Tensor& x, Change&& change) {
  if (!x.has_unused_grad()) return;
  dispatch_real(x.dtype(), "clip", [&](auto zero) {
    for (auto& element : x.mutable_grad_values<decltype(zero)>()) element = change(element);
  });
}

/// element = limit element / norm, for a limit / norm too small to be used as a factor.
void divide_gradient(const Tensor& x, const NormOfNumbers& norm, double limit) {
  change_gradient(x, [scale = PowerOfTwo(-norm.exponent), factor = limit / norm.mantissa]<class T>(T element) {
    return static_cast<T>(scale.times(static_cast<Wide<T>>(element)) * static_cast<Wide<T>>(factor));
  });
}

}  // namespace

double clip_norm(const Tensors& parameters, double limit, ClipRule rule) {
  check_limit("clip_norm", limit);
  const NormOfNumbers size = norm_of_gradients(parameters);
  const double norm = size.value();
  const double factor =
      rule == ClipRule::exact ? (norm > limit ? limit / norm : 1) : std::min(1.0, limit / (norm + 1e-6));
  constexpr double smallest = 0x1p-100;  // whose product with a float is rounded once
  if (factor >= smallest && factor != 1)
    for (const Tensor& x : parameters)
      change_gradient(x, [=]<class T>(T element) { return element * static_cast<T>(factor); });
  else if (factor < smallest)
    for (const Tensor& x : parameters) divide_gradient(x, size, limit);
  return norm;
}

void clip_value(const Tensors& parameters, double limit) {
  check_limit("clip_value", limit);
  for (const Tensor& x : parameters)
    change_gradient(
        x, [=]<class T>(T element) { return std::clamp(element, static_cast<T>(-limit), static_cast<T>(limit)); });
}

}  // namespace retrace
