// The logarithm of a vector register and softplus, in the instruction set being compiled.
//
// x = 2^n (1 + f) with sqrt(1/2) <= 1 + f <= sqrt(2), and ln(1 + f) = 2 artanh s, s = f / (2 + f), by the series of
// artanh, as long as the type's precision asks for. Written as f - f^2/2 + s (f^2/2 + R) the largest term is exact, and
// what is lost where n ln 2 is added to it comes back with the small ones.
#pragma once

#include <retrace/ops/kernels/isa_math.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

template <class T> struct LogFormat;
template <> struct LogFormat<float> {
  static constexpr int series_terms = 4;
  static constexpr std::int32_t root_half_bits = 0x3f3504f3;  // of sqrt(1/2)
};
template <> struct LogFormat<double> {
  static constexpr int series_terms = 9;
  static constexpr std::int64_t root_half_bits = 0x3fe6a09e667f3bcd;
};

/// The coefficients of 2 artanh s: 2 s + 2/3 s^3 + 2/5 s^5 + ...
template <class T> constexpr T two_over(int odd) { return static_cast<T>(2.0 / odd); }

/// ln(1 + f) + n ln 2, R = 2/3 s^2 + 2/5 s^4 + 2/7 s^6 + ...
template <class T> [[gnu::always_inline]] inline Vector<T> log_of_parts(Vector<T> f, Vector<T> n) {
  using Format = FloatFormat<T>;
  constexpr int terms = LogFormat<T>::series_terms;
  const Vector<T> s = f / (2 + f), z = s * s, half_square = T(0.5) * f * f;
  Vector<T> series = every_lane(two_over<T>(2 * terms + 1));
#pragma GCC unroll 16
  for (int k = terms - 1; k >= 1; --k) series = series * z + two_over<T>(2 * k + 1);
  const Vector<T> whole = n * Format::ln2_high, sum = whole + f;  // n ln2_high is exact, and 0 or larger than f
  const Vector<T> lost = f - (sum - whole);
  return sum + (lost + (s * (half_square + z * series) + n * Format::ln2_low - half_square));
}

/// ln x: -infinity at 0, NaN below it.
template <class T> [[gnu::always_inline]] inline Vector<T> vector_log(Vector<T> x) {
  using Format = FloatFormat<T>;
  constexpr T infinite = std::numeric_limits<T>::infinity();
  constexpr T to_normal = static_cast<T>(typename Format::Integer{1} << (Format::fraction_bits + 1));
  const Vector<T> size = absolute<T>(x);  // whose bits are a number from 0 on
  const auto is_small = size < std::numeric_limits<T>::min();
  const IntegerVector<T> bits = reinterpret_cast<IntegerVector<T>>(is_small ? size * to_normal : size);
  const IntegerVector<T> exponent = (bits - LogFormat<T>::root_half_bits) >> Format::fraction_bits;
  const Vector<T> f = reinterpret_cast<Vector<T>>(bits - (exponent << Format::fraction_bits)) - 1;
  const Vector<T> number =
      reinterpret_cast<Vector<T>>(exponent + reinterpret_cast<IntegerVector<T>>(every_lane(Format::rounder))) -
      Format::rounder;
  const Vector<T> n = is_small ? number - (Format::fraction_bits + 1) : number;
  const Vector<T> beyond = x == 0 ? every_lane(-infinite) : every_lane(std::numeric_limits<T>::quiet_NaN());
  const Vector<T> positive = x == infinite ? x : log_of_parts<T>(f, n);
  return x > 0 ? positive : beyond;
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|), and its slope, the logistic function.
template <class T> [[gnu::always_inline]] inline ValueAndSlope<T> vector_softplus_and_slope(Vector<T> x) {
  constexpr T root_two_minus_one = static_cast<T>(0.41421356237309503);
  const Vector<T> e = vector_exp_of_negative<T>(-absolute<T>(x));
  const Vector<T> f = e > root_two_minus_one ? T(0.5) * (e - 1) : e;  // 1 + e = 2 (1 + f) or 1 + f
  const Vector<T> n = e > root_two_minus_one ? every_lane(T(1)) : Vector<T>{};
  return {at_least(x, T(0)) + log_of_parts<T>(f, n), (x < 0 ? e : every_lane(T(1))) / (1 + e)};
}

/// ln(1 / (1 + e^-x)) = -softplus(-x).
template <class T> [[gnu::always_inline]] inline ValueAndSlope<T> vector_log_sigmoid_and_slope(Vector<T> x) {
  const ValueAndSlope<T> mirrored = vector_softplus_and_slope<T>(-x);
  return {-mirrored.value, mirrored.slope};
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
