#include <retrace/nn/clip.h>

#include <algorithm>

namespace retrace {
namespace {

template <class Body> void with_gradient(const Tensor& x, Body&& body) {
  Node& node = x.node();
  if (node.gradient == nullptr || node.gradient_used) return;
  dispatch_real(node.dtype, "clip", [&](auto zero) {
    using T = decltype(zero);
    body(std::span<T>(node.gradient_values<T>(), static_cast<std::size_t>(node.numel())));
  });
}

}  // namespace

namespace detail {

double squared_norm_of_gradient(const Tensor& x) {
  double squares = 0;
  with_gradient(x, [&](auto gradient) {
    for (const auto element : gradient) squares += static_cast<double>(element) * static_cast<double>(element);
  });
  return squares;
}

void scale_gradient(const Tensor& x, double factor) {
  if (x.has_grad()) own_gradient(&x.node());
  with_gradient(x, [&]<class T>(std::span<T> gradient) {
    for (T& element : gradient) element *= static_cast<T>(factor);
  });
}

double clip_factor(double norm, double most, ClipRule rule) {
  if (!(most > 0)) throw ValueError(text("clip_norm: the most is ", most, "; it must be above 0"));
  return rule == ClipRule::exact ? (norm > most ? most / norm : 1) : std::min(1.0, most / (norm + 1e-6));
}

void clamp_gradient(const Tensor& x, double most) {
  if (!(most > 0)) throw ValueError(text("clip_value: the most is ", most, "; it must be above 0"));
  if (x.has_grad()) own_gradient(&x.node());
  with_gradient(x, [&]<class T>(std::span<T> gradient) {
    const T bound = static_cast<T>(most);
    for (T& element : gradient) element = element > bound ? bound : element < -bound ? -bound : element;
  });
}

}  // namespace detail

double clip_norm(const Tensors& parameters, double most, ClipRule rule) {
  double squares = 0;
  for (const Tensor& x : parameters) squares += detail::squared_norm_of_gradient(x);
  const double norm = std::sqrt(squares), factor = detail::clip_factor(norm, most, rule);
  if (factor != 1)
    for (const Tensor& x : parameters) detail::scale_gradient(x, factor);
  return norm;
}

void clip_value(const Tensors& parameters, double most) {
  for (const Tensor& x : parameters) detail::clamp_gradient(x, most);
}

}  // namespace retrace
