// Keeping gradients in bounds, between backward and step. A gradient handle taken before keeps its values.
#pragma once

#include <cmath>

#include <retrace/nn/module.h>

namespace retrace {

/// How gradients are scaled where their norm n is above the most: by max / n, or by max / (n + 1e-6) as PyTorch does.
enum class ClipRule { exact, with_epsilon };

namespace detail {
double squared_norm_of_gradient(const Tensor& x);
void scale_gradient(const Tensor& x, double factor);
double clip_factor(double norm, double most, ClipRule rule);
void clamp_gradient(const Tensor& x, double most);
}  // namespace detail

/// Scales all gradients together so that their norm is at most `most`; returns the norm before. Parameters without a
/// gradient count as zero.
template <Module M> double clip_norm(const M& module, double most, ClipRule rule = ClipRule::exact) {
  double squares = 0;
  for_each_parameter(module, [&](const Path&, const Tensor& x) { squares += detail::squared_norm_of_gradient(x); });
  const double norm = std::sqrt(squares), factor = detail::clip_factor(norm, most, rule);
  if (factor != 1) for_each_parameter(module, [&](const Path&, const Tensor& x) { detail::scale_gradient(x, factor); });
  return norm;
}
double clip_norm(const Tensors& parameters, double most, ClipRule rule = ClipRule::exact);

/// Every element of every gradient to [-most, most].
template <Module M> void clip_value(const M& module, double most) {
  for_each_parameter(module, [&](const Path&, const Tensor& x) { detail::clamp_gradient(x, most); });
}
void clip_value(const Tensors& parameters, double most);

}  // namespace retrace
