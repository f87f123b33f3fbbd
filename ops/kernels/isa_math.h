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

template <class T> struct FloatFormat;
template <> struct FloatFormat<float> {
  using Integer = std::int32_t;
  static constexpr int fraction_bits = 23, exponent_bias = 127, series_terms = 8;
  static constexpr float rounder = 0x1.8p23F;  // adding it rounds to an integer, which the low bits then hold
  static constexpr float ln2_high = 0x1.63p-1F, ln2_low = -0x1.bd0106p-13F;
  static constexpr float lowest = -104, highest = 89;  // beyond them e^x is 0 or infinite
  static constexpr float common = 86;                  // up to this size e^x and what it is scaled from are normal
  static constexpr float tanh_is_one = 10;
};
template <> struct FloatFormat<double> {
  using Integer = std::int64_t;
  static constexpr int fraction_bits = 52, exponent_bias = 1023, series_terms = 14;
  static constexpr double rounder = 0x1.8p52;
  static constexpr double ln2_high = 0x1.62e4p-1, ln2_low = 0x1.7f7d1cf79abcap-20;
  static constexpr double lowest = -746, highest = 710;
  static constexpr double common = 707;
  static constexpr double tanh_is_one = 20;
};

template <class T> struct IntegerVectorOf {
  typedef typename FloatFormat<T>::Integer type __attribute__((vector_size(vector_bytes)));
};
template <class T> using IntegerVector = typename IntegerVectorOf<T>::type;

template <class T> [[gnu::always_inline]] inline Vector<T> every_lane(T value) { return value - Vector<T>{}; }

template <class T> [[gnu::always_inline]] inline Vector<T> absolute(Vector<T> x) {
  return reinterpret_cast<Vector<T>>(reinterpret_cast<IntegerVector<T>>(x) &
                                     std::numeric_limits<typename FloatFormat<T>::Integer>::max());
}

/// |magnitude| >= 0 with the sign of x.
template <class T> [[gnu::always_inline]] inline Vector<T> with_sign_of(Vector<T> x, Vector<T> magnitude) {
  return reinterpret_cast<Vector<T>>(
      (reinterpret_cast<IntegerVector<T>>(x) & std::numeric_limits<typename FloatFormat<T>::Integer>::min()) |
      reinterpret_cast<IntegerVector<T>>(magnitude));
}

/// 2^n, for n that a normal number has as its exponent.
template <class T> [[gnu::always_inline]] inline Vector<T> power_of_two(IntegerVector<T> n) {
  return reinterpret_cast<Vector<T>>((n + FloatFormat<T>::exponent_bias) << FloatFormat<T>::fraction_bits);
}

/// x = n ln 2 + r, and e^r - 1.
template <class T> struct Reduced {
  IntegerVector<T> n;
  Vector<T> n_number;  // the same as a floating-point number
  Vector<T> exp_minus_one;
};

/// a b - c, rounded once where there are fused multiply-adds.
[[gnu::always_inline]] inline Vector<float> multiply_subtract(Vector<float> a, Vector<float> b, Vector<float> c) {
#if defined(__AVX512F__)
  return _mm512_fmsub_ps(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_fmsub_ps(a, b, c);
#else
  return a * b - c;
#endif
}

/// a a - square, all of it, where square is a a rounded. Without fused multiply-adds, of a's first 12 bits and the
/// other 12, whose products are exact (Dekker's product).
[[gnu::always_inline]] inline Vector<float> rest_of_square(Vector<float> a, Vector<float> square) {
#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
  return multiply_subtract(a, a, square);
#else
  using Bits = IntegerVector<float>;
  const auto high = reinterpret_cast<Vector<float>>(reinterpret_cast<Bits>(a) & ~Bits{} << 12), low = a - high;
  return ((high * high - square) + 2 * high * low) + low * low;
#endif
}

template <class T> constexpr T one_over_factorial(int k) {
  double factorial = 1;
  for (int factor = 2; factor <= k; ++factor) factorial *= factor;
  return static_cast<T>(1 / factorial);
}

template <class T> [[gnu::always_inline]] inline Reduced<T> reduce(Vector<T> x) {
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
          n, r + r * r * series};
}

// The smaller or larger of x and a bound; NaN stays. And value 2^n for any whole n, of which `n_number` is the value.
#if defined(__AVX512F__)

[[gnu::always_inline]] inline Vector<float> at_least(Vector<float> x, float bound) {
  return _mm512_max_ps(_mm512_set1_ps(bound), x);
}
[[gnu::always_inline]] inline Vector<double> at_least(Vector<double> x, double bound) {
  return _mm512_max_pd(_mm512_set1_pd(bound), x);
}
[[gnu::always_inline]] inline Vector<float> at_most(Vector<float> x, float bound) {
  return _mm512_min_ps(_mm512_set1_ps(bound), x);
}
[[gnu::always_inline]] inline Vector<double> at_most(Vector<double> x, double bound) {
  return _mm512_min_pd(_mm512_set1_pd(bound), x);
}
[[gnu::always_inline]] inline Vector<float> times_power_of_two(Vector<float> value, const Reduced<float>& by) {
  return _mm512_scalef_ps(value, by.n_number);
}
[[gnu::always_inline]] inline Vector<double> times_power_of_two(Vector<double> value, const Reduced<double>& by) {
  return _mm512_scalef_pd(value, by.n_number);
}

#else

template <class V, class T> [[gnu::always_inline]] inline V at_least(V x, T bound) {
  return x < bound ? every_lane(bound) : x;
}
template <class V, class T> [[gnu::always_inline]] inline V at_most(V x, T bound) {
  return x > bound ? every_lane(bound) : x;
}
template <class V, class T> [[gnu::always_inline]] inline V times_power_of_two(V value, const Reduced<T>& by) {
  const IntegerVector<T> half = by.n >> 1;  // 2^n alone may be no number
  return value * power_of_two<T>(half) * power_of_two<T>(by.n - half);
}

#endif

// Whether no lane is larger than the limit, or NaN, where finding that out and scaling by an addition to the exponent
// are faster than clamping and scaling in two steps.
#if defined(__AVX512F__)
template <class V, class T> [[gnu::always_inline]] inline bool none_larger(V, T) { return false; }
#elif defined(__AVX2__)
[[gnu::always_inline]] inline bool none_larger(Vector<float> x, float limit) {
  return _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_set1_ps(limit), _CMP_NLE_UQ)) == 0;
}
[[gnu::always_inline]] inline bool none_larger(Vector<double> x, double limit) {
  return _mm256_movemask_pd(_mm256_cmp_pd(x, _mm256_set1_pd(limit), _CMP_NLE_UQ)) == 0;
}
#elif defined(__SSE4_2__)
[[gnu::always_inline]] inline bool none_larger(Vector<float> x, float limit) {
  return _mm_movemask_ps(_mm_cmpnle_ps(x, _mm_set1_ps(limit))) == 0;
}
[[gnu::always_inline]] inline bool none_larger(Vector<double> x, double limit) {
  return _mm_movemask_pd(_mm_cmpnle_pd(x, _mm_set1_pd(limit))) == 0;
}
#else
template <class V, class T> [[gnu::always_inline]] inline bool none_larger(V, T) { return false; }
#endif

/// e^x for |x| up to FloatFormat::common; the same bits as by two steps.
template <class T> [[gnu::always_inline]] inline Vector<T> common_exp(Vector<T> x) {
  const Reduced<T> reduced = reduce<T>(x);
  return reinterpret_cast<Vector<T>>(reinterpret_cast<IntegerVector<T>>(1 + reduced.exp_minus_one) +
                                     (reduced.n << FloatFormat<T>::fraction_bits));
}

/// e^x, with infinity, 0 and subnormal numbers where they belong; NaN stays.
template <class T> [[gnu::always_inline]] inline Vector<T> vector_exp(Vector<T> x) {
  using Format = FloatFormat<T>;
  if (none_larger(absolute<T>(x), Format::common)) [[likely]]
    return common_exp<T>(x);
  const Reduced<T> reduced = reduce<T>(at_most(at_least(x, Format::lowest), Format::highest));
  return times_power_of_two(1 + reduced.exp_minus_one, reduced);
}
/// vector_exp for x <= 0.
template <class T> [[gnu::always_inline]] inline Vector<T> vector_exp_of_negative(Vector<T> x) {
  if (none_larger(-x, FloatFormat<T>::common)) [[likely]]
    return common_exp<T>(x);
  const Reduced<T> reduced = reduce<T>(at_least(x, FloatFormat<T>::lowest));
  return times_power_of_two(1 + reduced.exp_minus_one, reduced);
}

/// tanh |x| = m / (m + 2), m = e^2|x| - 1, which loses nothing near 0.
template <class T> [[gnu::always_inline]] inline Vector<T> vector_tanh(Vector<T> x) {
  using Format = FloatFormat<T>;
  Vector<T> size = absolute<T>(x);
  size = at_most(size, Format::tanh_is_one);
  const Reduced<T> reduced = reduce<T>(2 * size);
  const Vector<T> scale = power_of_two<T>(reduced.n);
  const Vector<T> m = scale * reduced.exp_minus_one + (scale - 1);
  return with_sign_of<T>(x, m / (m + 2));
}

/// A function's value and its derivative.
template <class T> struct ValueAndSlope { Vector<T> value, slope; };

/// 1 / (1 + e^-x); only e^-|x| is taken, which cannot overflow. The slope, t (1 - t) for the smaller tail t, is full at
/// both ends.
template <class T> [[gnu::always_inline]] inline ValueAndSlope<T> vector_sigmoid_and_slope(Vector<T> x) {
  const Vector<T> e = vector_exp_of_negative<T>(-absolute<T>(x));
  const Vector<T> value = (x < 0 ? e : every_lane(T(1))) / (1 + e);
  const Vector<T> tail = x < 0 ? value : e * value;
  return {value, tail * (1 - tail)};
}
template <class T> [[gnu::always_inline]] inline Vector<T> vector_sigmoid(Vector<T> x) {
  return vector_sigmoid_and_slope<T>(x).value;
}

/// x, or the lowest (or largest) number at an infinity: its product with a gate of 0 is the limit.
template <class T> [[gnu::always_inline]] inline Vector<T> at_least_lowest(Vector<T> x) {
  return at_least(x, std::numeric_limits<T>::lowest());
}
template <class T> [[gnu::always_inline]] inline Vector<T> finite_or_nan(Vector<T> x) {
  return at_most(at_least_lowest<T>(x), std::numeric_limits<T>::max());
}

/// x s and s + x s', s the sigmoid of x and s' its slope.
template <class T> [[gnu::always_inline]] inline Vector<T> vector_silu(Vector<T> x) {
  return at_least_lowest<T>(x) * vector_sigmoid<T>(x);
}
template <class T> [[gnu::always_inline]] inline Vector<T> vector_silu_slope(Vector<T> x) {
  const auto [value, slope] = vector_sigmoid_and_slope<T>(x);
  return value + finite_or_nan<T>(x) * slope;
}

/// x P(x) and P(x) + x p(x), P the normal distribution function and p its density. With a = |x| the tail P(-a) is
/// e^(-a^2 / 2) / (a + 4) times a polynomial in t = (a - 4) / (a + 4), which was fitted to 1.3e-8 by interpolation at
/// the Chebyshev nodes of 0 <= a <= 14.5; beyond, the tail is 0.
[[gnu::always_inline]] inline ValueAndSlope<float> vector_gelu(Vector<float> x) {
  constexpr float coefficients[] = {0.7552851385103706F,     -0.6078966060738091F,   0.3871366797947066F,
                                    -0.18652300589738766F,   0.06040646974830364F,   -0.007527212911679855F,
                                    -0.003523574056351906F,  0.0015693136450922462F, 0.00019480185114246546F,
                                    -0.00012298315700526609F};
  constexpr float inverse_root_of_two_pi = 0.3989422804014327F;
  const Vector<float> a = at_most(absolute<float>(x), 14.5F);
  const Vector<float> inverse = 1 / (a + 4), t = 1 - 8 * inverse;
  const Vector<float> square = a * a, rest = rest_of_square(a, square);
  const Vector<float> e = vector_exp_of_negative<float>(-0.5F * square) * (1 - 0.5F * rest);
  Vector<float> polynomial = every_lane(coefficients[9]);
#pragma GCC unroll 16
  for (int k = 8; k >= 0; --k) polynomial = polynomial * t + coefficients[k];
  const Vector<float> tail = e * inverse * polynomial;
  const Vector<float> distribution = x < 0 ? tail : 1 - tail;
  return {at_least_lowest<float>(x) * distribution,
          distribution + finite_or_nan<float>(x) * e * inverse_root_of_two_pi};
}

/// a b + c, rounded once where there are fused multiply-adds: for what two expressions share, of which a compiler might
/// fuse one.
[[gnu::always_inline]] inline Vector<float> multiply_add(Vector<float> a, Vector<float> b, Vector<float> c) {
  return multiply_subtract(a, b, -c);
}

/// x / 2 (1 + tanh u), u = sqrt(2 / pi) (x + 0.044715 x^3), by the logistic function of 2 u, and its slope.
[[gnu::always_inline]] inline ValueAndSlope<float> vector_gelu_tanh(Vector<float> x) {
  constexpr float two_root = 1.5957691216057308F, cubic = 0.044715F;
  const Vector<float> one = every_lane(1.0F), square = x * x;
  const auto [logistic, slope] =
      vector_sigmoid_and_slope<float>(two_root * x * multiply_add(every_lane(cubic), square, one));
  const Vector<float> through_u = x * slope * two_root * multiply_add(every_lane(3 * cubic), square, one);
  return {at_least_lowest<float>(x) * logistic,
          logistic + (slope == 0 ? Vector<float>{} : through_u)};  // far out u' may be infinite
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
