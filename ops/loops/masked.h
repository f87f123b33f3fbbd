// Additive masks, as softmax and log_softmax take them.
#pragma once

#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// x + mask, where the mask broadcasts to x and gets no gradient. Throws ShapeError where it does not, DtypeError where
/// the dtypes differ.
inline Tensor masked(const char* function, const Tensor& x, const Tensor& mask) {
  const Shape together = broadcast_shapes(x.shape(), mask.shape(), function, "x", "mask");
  if (together != x.shape())
    throw ShapeError(text(function, ": ", describe_operand("mask", mask), " has more elements than ",
                          describe_operand("x", x), "; the mask must broadcast to x"));
  check_dtypes(function, x, mask, "x", "mask");
  return add(x, mask.wants_gradient() ? mask.detach() : mask);
}

}  // namespace retrace
