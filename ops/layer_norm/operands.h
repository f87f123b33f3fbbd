// The operands of layer_norm and residual_layer_norm, and their rules.
#pragma once

#include <utility>

#include <retrace/ops/layer_norm/formulas.h>
#include <retrace/ops/loops/operands.h>

namespace retrace {

/// The operands of both ops.
struct LayerNormOperands {
  Tensor x, residual, gamma, beta;
  LayerNormOptions options;

  const OpInfo& info() const { return residual.defined() ? residual_layer_norm_info : layer_norm_info; }
  const char* name() const { return info().name; }
};

inline void check(const LayerNormOperands& in) {
  check_defined(in.name(), in.x, "x");
  const Tensor& x = in.x;
  if (in.options.axes < 1 || in.options.axes > x.rank())
    throw ShapeError(text(in.name(), ": ", describe_operand("x", x), " does not have ", in.options.axes,
                          " last axes to normalise; options.axes is 1 to the rank"));
  if (!(in.options.eps >= 0))
    throw ValueError(
        text(in.name(), ": ", describe_operand("x", x), " with eps ", in.options.eps, "; eps must be 0 or more"));
  if (in.residual.defined() && in.residual.shape() != x.shape())
    throw ShapeError(text(in.name(), ": ", describe_operand("x", x), " and ", describe_operand("residual", in.residual),
                          " must have one shape; reshape or broadcast one"));
  const Shape normalised = x.shape().last(in.options.axes);
  for (const auto& [role, affine] : {std::pair("gamma", &in.gamma), std::pair("beta", &in.beta)}) {
    if (!affine->defined()) continue;
    if (affine->shape() != normalised)
      throw ShapeError(text(in.name(), ": ", describe_operand(role, *affine), " does not have the shape ", normalised,
                            " of the normalised axes of ", describe_operand("x", x), "; reshape it"));
    check_dtypes(in.name(), x, *affine, "x", role);
  }
  if (in.residual.defined()) check_dtypes(in.name(), x, in.residual, "x", "residual");
  check_real(in.name(), x);
}

}  // namespace retrace
