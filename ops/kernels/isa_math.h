// exp, tanh and the logistic function of a vector register, in the instruction set being compiled.
//
// e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2, and e^r by its Taylor series, as long as the type's
// precision asks for. ln 2 is subtracted in two parts, the first with so few digits that n times it is exact.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <retrace/ops/kernels/isa_vector.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

template <class T>
struct FloatFormat;
template <>
struct FloatFormat<float> {
  using Integer = std::int32_t;
  static constexpr int fraction_bits = 23, exponent_bias = 127, series_terms = 8;
  static constexpr float rounder = 0x1.8p23F;  // adding it rounds to an integer, which the low bits then hold
  static constexpr float ln2_high = 0x1.63p-1F, ln2_low = -0x1.bd0106p-13F;
  static constexpr float lowest = -104, highest = 89;  // beyond them e^x is 0 or infinite
  static constexpr float tanh_is_one = 10;
};
template <>
struct FloatFormat<double> {
  using Integer = std::int64_t;
  static constexpr int fraction_bits = 52, exponent_bias = 1023, series_terms = 14;
  static constexpr double rounder = 0x1.8p52;
  static constexpr double ln2_high = 0x1.62e4p-1, ln2_low = 0x1.7f7d1cf79abcap-20;
  static constexpr double lowest = -746, highest = 710;
  static constexpr double tanh_is_one = 20;
};

template <class T>
struct IntegerVectorOf {
  typedef typename FloatFormat<T>::Integer type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using IntegerVector = typename IntegerVectorOf<T>::type;

template <class T>
[[gnu::always_inline]] inline Vector<T> every_lane(T value) {
  return value - Vector<T>{};
}

template <class T>
[[gnu::always_inline]] inline Vector<T> absolute(Vector<T> x) {
  return reinterpret_cast<Vector<T>>(reinterpret_cast<IntegerVector<T>>(x) &
                                     std::numeric_limits<typename FloatFormat<T>::Integer>::max());
}

/// |magnitude| >= 0 with the sign of x.
template <class T>
[[gnu::always_inline]] inline Vector<T> with_sign_of(Vector<T> x, Vector<T> magnitude) {
  return reinterpret_cast<Vector<T>>((reinterpret_cast<IntegerVector<T>>(x) &
                                      std::numeric_limits<typename FloatFormat<T>::Integer>::min()) |
                                     reinterpret_cast<IntegerVector<T>>(magnitude));
}

/// 2^n, for n that a normal number has as its exponent.
template <class T>
[[gnu::always_inline]] inline Vector<T> power_of_two(IntegerVector<T> n) {
  return reinterpret_cast<Vector<T>>((n + FloatFormat<T>::exponent_bias) << FloatFormat<T>::fraction_bits);
}

/// x = n ln 2 + r, and e^r - 1.
template <class T>
struct Reduced {
  IntegerVector<T> n;
  Vector<T> exp_minus_one;
};

template <class T>
constexpr T one_over_factorial(int k) {
  double factorial = 1;
  for (int factor = 2; factor <= k; ++factor) factorial *= factor;
  return static_cast<T>(1 / factorial);
}

template <class T>
[[gnu::always_inline]] inline Reduced<T> reduce(Vector<T> x) {
  using Format = FloatFormat<T>;
  constexpr T one_over_ln2 = static_cast<T>(0x1.71547652b82fep0);
  const Vector<T> shifted = x * one_over_ln2 + Format::rounder;
  const Vector<T> n = shifted - Format::rounder;
  const Vector<T> r = (x - n * Format::ln2_high) - n * Format::ln2_low;
  Vector<T> series = every_lane(one_over_factorial<T>(Format::series_terms - 1));
#pragma GCC unroll 16
  for (int k = Format::series_terms - 2; k >= 2; --k) series = series * r + one_over_factorial<T>(k);
  // A lane of the integer that `rounder` itself holds is 0.
  return {reinterpret_cast<IntegerVector<T>>(shifted) - reinterpret_cast<IntegerVector<T>>(every_lane(Format::rounder)),
          r + r * r * series};
}

/// e^x, with infinity, 0 and subnormal numbers where they belong; NaN stays.
template <class T>
[[gnu::always_inline]] inline Vector<T> vector_exp(Vector<T> x) {
  using Format = FloatFormat<T>;
  x = x < Format::lowest ? every_lane(Format::lowest) : x;
  x = x > Format::highest ? every_lane(Format::highest) : x;
  const Reduced<T> reduced = reduce<T>(x);
  const IntegerVector<T> half = reduced.n >> 1;  // 2^n alone may be no number
  return (1 + reduced.exp_minus_one) * power_of_two<T>(half) * power_of_two<T>(reduced.n - half);
}

/// tanh |x| = m / (m + 2), m = e^2|x| - 1, which loses nothing near 0.
template <class T>
[[gnu::always_inline]] inline Vector<T> vector_tanh(Vector<T> x) {
  using Format = FloatFormat<T>;
  Vector<T> size = absolute<T>(x);
  size = size > Format::tanh_is_one ? every_lane(Format::tanh_is_one) : size;
  const Reduced<T> reduced = reduce<T>(2 * size);
  const Vector<T> scale = power_of_two<T>(reduced.n);
  const Vector<T> m = scale * reduced.exp_minus_one + (scale - 1);
  return with_sign_of<T>(x, m / (m + 2));
}

/// 1 / (1 + e^-x); only e^-|x| is taken, which cannot overflow.
template <class T>
[[gnu::always_inline]] inline Vector<T> vector_sigmoid(Vector<T> x) {
  const Vector<T> e = vector_exp<T>(-absolute<T>(x));
  return (x < 0 ? e : every_lane(T(1))) / (1 + e);
}

template <class T>
[[gnu::always_inline]] inline Vector<T> vector_sigmoid_slope(Vector<T> x) {
  const Vector<T> e = vector_exp<T>(-absolute<T>(x));
  return e / ((1 + e) * (1 + e));
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
