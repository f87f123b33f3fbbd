// Every op: its formula, its rule of shapes, its edge values. This file is the op reference; ops.def lists the names.
//
// Conventions. a, b, x are tensors; y is the result. Elementwise ops of two tensors broadcast as NumPy does, and their
// backward sums over the broadcast axes. Axes may be negative (-1 is the last). Mixed dtypes throw a DtypeError, except
// that f64 meeting dual gets a zero tangent; i64 has no gradient, and ops that need real numbers refuse it by name.
// NaN in is NaN out, everywhere. Nothing is changed when something throws.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <retrace/core/random.h>
#include <retrace/core/tape.h>
#include <retrace/core/tensor.h>

namespace retrace {

// ---- arithmetic
// ------------------------------------------------------------------------------------------------------

/// y = a + b.
Tensor add(const Tensor& a, const Tensor& b);
/// y = a - b.
Tensor sub(const Tensor& a, const Tensor& b);
/// y = a b, element by element.
Tensor mul(const Tensor& a, const Tensor& b);
/// y = a / b.
Tensor div(const Tensor& a, const Tensor& b);
/// y = -x.
Tensor neg(const Tensor& x);
/// y = factor x.
Tensor scale(const Tensor& x, double factor);
/// y = x + offset.
Tensor shift(const Tensor& x, double offset);
/// y = max(a, b) and min(a, b). Where a = b each gets half of the gradient. NaN if either is NaN.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
/// y = x^p.
Tensor pow(const Tensor& x, double exponent);
/// y = a^b, for a > 0 where b wants a gradient.
Tensor pow(const Tensor& a, const Tensor& b);
/// y = e^x.
Tensor exp(const Tensor& x);
/// y = ln x. -inf at 0, NaN below.
Tensor log(const Tensor& x);
/// y = sqrt x.
Tensor sqrt(const Tensor& x);
/// y = x^2.
Tensor square(const Tensor& x);
/// y = |x|; gradient 0 at 0.
Tensor abs(const Tensor& x);
/// y = 1/x.
Tensor reciprocal(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
/// y = min(max(x, low), high); gradient 1 strictly inside, 0 elsewhere. Throws ValueError if low > high.
Tensor clip(const Tensor& x, double low, double high);
/// y = a where condition (i64) is not 0, else b; all three broadcast.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// y = value where mask (i64, broadcast to x) is not 0, else x.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
/// The same numbers in another dtype; the gradient goes back in x's. To i64 it truncates and has no gradient.
Tensor to(const Tensor& x, Dtype dtype);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator+(const Tensor& x, double c) { return shift(x, c); }
inline Tensor operator+(double c, const Tensor& x) { return shift(x, c); }
inline Tensor operator-(const Tensor& x, double c) { return shift(x, -c); }
inline Tensor operator-(double c, const Tensor& x) { return shift(neg(x), c); }
inline Tensor operator*(const Tensor& x, double c) { return scale(x, c); }
inline Tensor operator*(double c, const Tensor& x) { return scale(x, c); }
inline Tensor operator/(const Tensor& x, double c) { return scale(x, 1 / c); }
inline Tensor operator/(double c, const Tensor& x) { return scale(reciprocal(x), c); }

// ---- activations
// ----------------------------------------------------------------------------------------------------- Exact to
// rounding in both tails; finite in is finite out.

/// y = 1 / (1 + e^-x).
Tensor sigmoid(const Tensor& x);
Tensor tanh(const Tensor& x);
/// y = max(x, 0); gradient 0 at 0.
Tensor relu(const Tensor& x);
/// y = x for x > 0, else slope x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// y = x Phi(x), Phi the normal distribution function (by erf).
Tensor gelu(const Tensor& x);
/// y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
Tensor gelu_tanh(const Tensor& x);
/// y = x sigmoid(x).
Tensor silu(const Tensor& x);
/// y = ln(1 + e^x).
Tensor softplus(const Tensor& x);
/// y = -ln(1 + e^-x).
Tensor log_sigmoid(const Tensor& x);

// ---- the rest
// --------------------------------------------------------------------------------------------------------

/// Each element is 0 with the given probability, else x / (1 - probability). Without a generator: x itself.
Tensor dropout(const Tensor& x, double probability, Random* random);

}  // namespace retrace
