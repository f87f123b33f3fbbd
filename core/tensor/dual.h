// A dual number a + b e with e^2 = 0: f(a + b e) = f(a) + b f'(a) e. Plain kernels run on it as on a double and so give
// exact directional derivatives (gradcheck's exact check, jvp, hvp).
#pragma once

#include <cmath>
#include <iosfwd>
#include <limits>
#include <numbers>
#include <type_traits>

namespace retrace {

/// A value and its derivative in one direction.
struct Dual {
  double value = 0;
  double tangent = 0;

  constexpr Dual() = default;
  constexpr Dual(double v) : value(v) {}  // implicit: a constant has tangent zero
  constexpr Dual(double v, double t) : value(v), tangent(t) {}
  constexpr explicit operator double() const { return value; }

  // Neither inline nor hot: loops over duals, which only checks and derivatives run, are compiled for size.
  [[gnu::cold]] Dual& operator+=(Dual b);
  [[gnu::cold]] Dual& operator-=(Dual b);
  [[gnu::cold]] Dual& operator*=(Dual b);
  [[gnu::cold]] Dual& operator/=(Dual b);
  friend Dual operator+(Dual a, Dual b) { return a += b; }
  friend Dual operator-(Dual a, Dual b) { return a -= b; }
  friend Dual operator*(Dual a, Dual b) { return a *= b; }
  friend Dual operator/(Dual a, Dual b) { return a /= b; }
  friend constexpr Dual operator-(Dual a) { return {-a.value, -a.tangent}; }
  // Comparisons look at the value alone: a branch is taken where the function itself would take it.
  friend constexpr bool operator==(Dual a, Dual b) { return a.value == b.value; }
  friend constexpr auto operator<=>(Dual a, Dual b) { return a.value <=> b.value; }
};

/// g(a) with slope g'(a).
constexpr Dual chain(double value, double slope, double tangent) {
  return {value, tangent == 0 ? 0 : slope * tangent};  // a zero tangent stays zero where the slope is infinite
}

/// The functions of the standard library, each with its derivative by the chain rule. At a kink they have the slope
/// that the ops of the same name have.
inline Dual exp(Dual a) { return chain(std::exp(a.value), std::exp(a.value), a.tangent); }
inline Dual expm1(Dual a) { return chain(std::expm1(a.value), std::exp(a.value), a.tangent); }
inline Dual log(Dual a) { return chain(std::log(a.value), 1 / a.value, a.tangent); }
inline Dual log1p(Dual a) { return chain(std::log1p(a.value), 1 / (1 + a.value), a.tangent); }
inline Dual sqrt(Dual a) {
  const double root = std::sqrt(a.value);
  return chain(root, 0.5 / root, a.tangent);
}
inline Dual sin(Dual a) { return chain(std::sin(a.value), std::cos(a.value), a.tangent); }
inline Dual cos(Dual a) { return chain(std::cos(a.value), -std::sin(a.value), a.tangent); }
inline Dual tanh(Dual a) {
  const double y = std::tanh(a.value);
  return chain(y, 1 - y * y, a.tangent);
}
inline Dual erf(Dual a) {
  return chain(std::erf(a.value), 2 * std::numbers::inv_sqrtpi * std::exp(-a.value * a.value), a.tangent);
}
inline Dual erfc(Dual a) {
  return chain(std::erfc(a.value), -2 * std::numbers::inv_sqrtpi * std::exp(-a.value * a.value), a.tangent);
}
/// The slope at 0 is 0.
inline Dual abs(Dual a) { return a.value < 0 ? -a : a.value == 0 ? Dual(0) : a; }
inline Dual pow(Dual a, Dual b) {
  const double y = std::pow(a.value, b.value);
  const double by_base = a.tangent == 0 ? 0 : b.value * std::pow(a.value, b.value - 1) * a.tangent;
  const double by_exponent = b.tangent == 0 || y == 0 ? 0 : y * std::log(a.value) * b.tangent;  // y ln a -> 0 as y -> 0
  return {y, by_base + by_exponent};
}
/// 0, the slope that stands for those on both sides of a kink, where `moving` is 0. If it moves, as a dual number that
/// has a tangent, the slope has no derivative: a second derivative there is NaN.
template <class T> constexpr T slope_at_kink(T) { return T(0); }
constexpr Dual slope_at_kink(Dual moving) {
  return {0, moving.tangent == 0 ? 0 : std::numeric_limits<double>::quiet_NaN()};
}
/// isnan and isinf test the value; isfinite tests the value and the tangent.
inline bool isnan(Dual a) { return std::isnan(a.value); }
inline bool isinf(Dual a) { return std::isinf(a.value); }
inline bool isfinite(Dual a) { return std::isfinite(a.value) && std::isfinite(a.tangent); }

/// "1.5+2e"
std::ostream& operator<<(std::ostream& out, Dual a);

}  // namespace retrace
