// Gradient descent, and gradients of functions that contain gradients: for saddle and particle.
#pragma once

#include <retrace/benchmarks/gradbench/retrace_tool.h>

namespace retrace::gradbench {

/// A number, or several, and their derivatives in one direction, made of tensors: forward mode as an outer derivative
/// needs it, which goes through the tensors, by a tape or by dual numbers.
struct Moving {
  Tensor value, tangent;
};
inline Moving operator+(const Moving& a, const Moving& b) { return {a.value + b.value, a.tangent + b.tangent}; }
inline Moving operator-(const Moving& a, const Moving& b) { return {a.value - b.value, a.tangent - b.tangent}; }
inline Moving operator-(const Moving& a, const Tensor& b) { return {a.value - b, a.tangent}; }
inline Moving operator-(const Tensor& a, const Moving& b) { return {a - b.value, -b.tangent}; }
inline Moving square(const Moving& x) { return {square(x.value), 2 * x.value * x.tangent}; }
inline Moving sum(const Moving& x, const Axes& axes = {}) { return {sum(x.value, axes), sum(x.tangent, axes)}; }
inline Moving sqrt(const Moving& x) {
  const Tensor root = sqrt(x.value);
  return {root, x.tangent / (2 * root)};
}
inline Moving reciprocal(const Moving& x) {
  const Tensor y = reciprocal(x.value);
  return {y, -square(y) * x.tangent};
}

/// The mode of an outer or an inner derivative.
enum class Mode { forward, reverse };

/// The gradient of a scalar f(x, c) at a vector x, which an outer derivative goes through, also to c. f takes tensors,
/// and x as Moving.
template <class F> Tensor inner_gradient(Mode mode, const F& f, const Tensor& x, const Tensor& c) {
  if (mode == Mode::reverse)
    return gradient(TensorsFunction([f](const Tensors& in) { return f(in[0], in[1]); }), Tensors{x, c})[0];
  Tensors parts;
  for (std::int64_t k = 0; k < x.numel(); ++k) parts.push_back(f(Moving{x, eye(x.numel(), -1, f64)[k]}, c).tangent);
  return stack(parts);
}

/// The gradient of a scalar f at a vector x.
inline Tensor outer_gradient(Mode mode, const TensorFunction& f, const Tensor& x) {
  if (mode == Mode::reverse) return gradient_of(f, x);
  Tensors parts;
  for (std::int64_t k = 0; k < x.numel(); ++k) parts.push_back(jvp(f, x, eye(x.numel(), -1, f64)[k]));
  return stack(parts);
}

/// Where f is least, from x on, by the descent that GradBench asks for: the step doubles after ten that were good and
/// is halved after one that was not. What f, its gradient and x are made from may be recorded.
template <class F, class Gradient> Tensor argmin(const F& f, const Gradient& gradient, Tensor x) {
  constexpr double enough = 1e-5;
  const auto length = [](const Tensor& v) { return norm(v.detach()).item(); };
  double step = 1e-5;
  Tensor y = f(x), slope = gradient(x);
  for (int good = 0; length(slope) > enough;) {
    if (good == 10) step *= 2, good = 0;
    const Tensor next = x - step * slope;
    if (length(next.detach() - x.detach()) <= enough) break;
    const Tensor y_next = f(next);
    if (y_next.item() < y.item()) {
      x = next, y = y_next, slope = gradient(x), ++good;
    } else {
      step /= 2, good = 0;
    }
  }
  return x;
}

}  // namespace retrace::gradbench
