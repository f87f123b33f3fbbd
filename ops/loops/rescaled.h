// Sums of squares of numbers whose squares overflow or underflow. The plain sum is taken first and
// kept where it has its digits; otherwise the numbers are multiplied by a power of two before they are squared.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <retrace/core/tensor/dual.h>
#include <retrace/ops/loops/functions.h>
#include <retrace/ops/loops/ordered_sum.h>

namespace retrace {

/// Whether a sum of squares, of numbers of type T, is neither infinite nor NaN, nor so small that squares of its terms
/// may have been rounded to subnormal numbers or to 0.
template <class T> bool keeps_digits(T squares) {
  constexpr double smallest = std::is_same_v<T, float> ? 0x1p-100 : 0x1p-960;
  return squares >= static_cast<T>(smallest) && squares <= static_cast<T>(largest_number<T>);
}

/// A power of two, as two factors: it need not be a number itself.
class PowerOfTwo {
 public:
  PowerOfTwo() = default;
  explicit PowerOfTwo(int exponent)
      : first_(std::ldexp(1, exponent / 2)), second_(std::ldexp(1, exponent - exponent / 2)) {}
  template <class T> T times(T x) const { return x * static_cast<T>(first_) * static_cast<T>(second_); }
  template <class T> T into(T x) const { return x / static_cast<T>(first_) / static_cast<T>(second_); }

 private:
  double first_ = 1, second_ = 1;
};

/// The power of two that brings this number near 1; 1 for zero and for what is not finite.
inline PowerOfTwo to_unit_size(double largest) {
  return largest > 0 && std::isfinite(largest) ? PowerOfTwo(-std::ilogb(largest)) : PowerOfTwo();
}

/// The root of the mean square of a row, or with `centred` of its deviations from the mean, rescaled.
template <class T> class RescaledRow {
  using W = Wide<T>;

 public:
  RescaledRow(const T* x, std::int64_t length, double eps, bool centred) {
    const auto size = [=](std::int64_t k) { return static_cast<double>(abs(static_cast<W>(x[k]))); };
    double largest = std::sqrt(eps);
    for (std::int64_t k = 0; k < length; ++k) largest = size(k) > largest ? size(k) : largest;
    scale_ = to_unit_size(largest);
    const W count = static_cast<W>(static_cast<double>(length));
    if (centred) mean_ = ordered_sum<W>(length, [&](std::int64_t k) { return scaled(x[k]); }) / count;
    const W squares = ordered_sum<W>(length, [&](std::int64_t k) {
      const W deviation = scaled(x[k]) - mean_;
      return deviation * deviation;
    });
    inverse_ = W(1) / sqrt(squares / count + scale_.times(scale_.times(W(eps))));
  }
  T mean() const { return static_cast<T>(scale_.into(mean_)); }
  /// 1 / sqrt(mean square + eps).
  T inverse() const { return static_cast<T>(scale_.times(inverse_)); }
  /// (x - mean) inverse.
  T normal(T x) const { return static_cast<T>((scaled(x) - mean_) * inverse_); }

 private:
  W scaled(T x) const { return scale_.times(static_cast<W>(x)); }

  PowerOfTwo scale_;
  W mean_ = W(0), inverse_ = W(0);
};

/// Whether 1 / sqrt(mean square + eps) comes from a sum that has kept its digits.
template <class T> bool comes_from_digits(T inverse) {
  constexpr double smallest = std::is_same_v<T, float> ? 0x1p-64 : 0x1p-512;  // 1 / sqrt of what keeps_digits allows
  constexpr double largest = std::is_same_v<T, float> ? 0x1p50 : 0x1p480;
  return inverse >= static_cast<T>(smallest) && inverse <= static_cast<T>(largest);
}

}  // namespace retrace
