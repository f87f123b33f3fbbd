// Additive masks, as softmax, log_softmax and attention take them.
#pragma once

#include <retrace/ops/op.h>

namespace retrace {

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Whether an element of an additive mask, or of a sum with one, hides.
template <class T> bool is_hidden(T x) { return x == static_cast<T>(minus_infinity); }
/// x + mask of one element. A hidden one is -inf, whatever x is: NaN or inf - inf would reach the others.
template <class T> T masked_sum(T x, T mask) { return is_hidden(mask) ? static_cast<T>(minus_infinity) : x + mask; }

/// masked_sum of all elements, recorded as add.
Tensor add_mask(const Tensor& x, const Tensor& mask);

/// x + mask, and -inf where the mask is, whatever x holds there. The mask broadcasts to x and gets no gradient. Throws
/// ShapeError where it does not broadcast, DtypeError where the dtypes differ.
inline Tensor masked(const char* function, const Tensor& x, const Tensor& mask) {
  const Shape together = broadcast_shapes(x.shape(), mask.shape(), function, "x", "mask");
  if (together != x.shape())
    throw ShapeError(text(function, ": ", describe_operand("mask", mask), " has more elements than ",
                          describe_operand("x", x), "; the mask must broadcast to x"));
  check_dtypes(function, x, mask, "x", "mask");
  return add_mask(x, mask.wants_gradient() ? mask.detach() : mask);
}

}  // namespace retrace
