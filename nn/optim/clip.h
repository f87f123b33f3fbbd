// Keeping gradients within bounds, between backward and step. A gradient handle taken before keeps its values.
#pragma once

#include <retrace/nn/module/module.h>

namespace retrace {

/// How gradients are scaled when their norm n exceeds the limit: by limit / n, or by limit / (n + 1e-6) as in PyTorch.
enum class ClipRule { exact, with_epsilon };

/// Scales all gradients together so that their norm is at most `limit`; returns the norm before, which is infinite if
/// no f64 holds it: they are scaled all the same. A gradient that is missing or used up counts as zero. Throws
/// ValueError unless limit > 0.
double clip_norm(const Tensors& parameters, double limit, ClipRule rule = ClipRule::exact);
template <Module M> double clip_norm(const M& module, double limit, ClipRule rule = ClipRule::exact) {
  return clip_norm(parameter_tensors(module), limit, rule);
}

/// Clamps every element of every gradient to [-limit, limit]. Throws ValueError unless limit > 0.
void clip_value(const Tensors& parameters, double limit);
template <Module M> void clip_value(const M& module, double limit) { clip_value(parameter_tensors(module), limit); }

}  // namespace retrace
