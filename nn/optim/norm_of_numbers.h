// The norm of numbers whose squares may overflow or underflow, for optimisers and clipping.
#pragma once

#include <cmath>
#include <span>

#include <retrace/ops/loops/rescaled.h>

namespace retrace {

/// mantissa 2^exponent: the norm of large numbers need not be a number itself.
struct NormOfNumbers {
  double mantissa = 0;
  int exponent = 0;

  /// Infinite where it is no number.
  double value() const { return std::ldexp(mantissa, exponent); }
};

/// The root of the sum of x^2; sum_of(term) gives the sum of term(x), in f64.
template <class SumOf> NormOfNumbers norm_of_numbers(SumOf&& sum_of) {
  const double squares = sum_of([](double x) { return x * x; });
  double largest = 0;
  if (!keeps_digits(squares))
    sum_of([&](double x) {
      largest = std::abs(x) > largest ? std::abs(x) : largest;
      return x;
    });
  if (largest == 0 || !std::isfinite(largest)) return {std::sqrt(squares), 0};
  const int exponent = std::ilogb(largest);
  return {std::sqrt(sum_of([scale = PowerOfTwo(-exponent)](double x) { return scale.times(x) * scale.times(x); })),
          exponent};
}

/// The sum of term(x) over values of any type.
template <class T, class Term> double sum_of_terms(std::span<T> values, Term&& term) {
  double sum = 0;
  for (const T value : values) sum += term(static_cast<double>(value));
  return sum;
}

/// The norm of values of any type.
template <class T> NormOfNumbers norm_of_values(std::span<T> values) {
  return norm_of_numbers([&](auto&& term) { return sum_of_terms(values, term); });
}

}  // namespace retrace
