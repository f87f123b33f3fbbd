// gelu by the normal distribution function, and gelu_tanh, its approximation.
#include <concepts>
#include <numbers>

#include <retrace/ops/loops/activation.h>
#include <retrace/ops/loops/logistic.h>

namespace retrace {
namespace {

struct Gelu {
  static constexpr OpInfo info{"gelu", "p = (1 + erf(x / sqrt 2)) / 2, y = x p",
                               "dx = dy (p + x e^(-x^2 / 2) / sqrt(2 pi))", "x"};
  static constexpr Saves saves = Saves::slope;

  /// P(x); by erfc, because 1 + erf cancels for negative x.
  template <class T> static T distribution(T x) { return T(0.5) * erfc(x * T(-1 / std::numbers::sqrt2)); }
  template <class T> static T value(T x) { return at_least_lowest(x) * distribution(x); }
  template <class T> static T slope(T x, T) {
    const T density = exp(T(-0.5) * x * x) * T(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return distribution(x) + finite_or_nan(x) * density;
  }
  template <std::same_as<float> T> static constexpr auto kernel = &kernels::MapKernels<T>::gelu;
};

struct GeluTanh {
  static constexpr OpInfo info{"gelu_tanh", "u = sqrt(2 / pi) (x + 0.044715 x^3), y = x (1 + tanh u) / 2",
                               "s = sqrt(2 / pi) (1 + 0.134145 x^2), "
                               "dx = dy (1 + tanh u + x (1 - (tanh u)^2) s) / 2",
                               "x"};
  static constexpr Saves saves = Saves::slope;
  static constexpr double two_root = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // 2 sqrt(2/pi)
  static constexpr double cubic = 0.044715;

  // (1 + tanh u) / 2 = 1 / (1 + e^-2u), which does not cancel for negative u.
  template <class T> static T value(T x) {
    return at_least_lowest(x) * logistic(T(two_root) * x * (1 + T(cubic) * x * x));
  }
  template <class T> static T slope(T x, T) {
    const T twice_u = T(two_root) * x * (1 + T(cubic) * x * x);
    const T bend = logistic_slope(twice_u);
    if (bend == 0) return logistic(twice_u);  // far out, where u' may be infinite
    return logistic(twice_u) + x * bend * T(two_root) * (1 + T(3 * cubic) * x * x);
  }
  template <std::same_as<float> T> static constexpr auto kernel = &kernels::MapKernels<T>::gelu_tanh;
};

}  // namespace

Tensor gelu(const Tensor& x) { return unary<Gelu>(x); }
Tensor gelu_tanh(const Tensor& x) { return unary<GeluTanh>(x); }

constinit const ActivationParts gelu_parts = parts_of<Gelu>("gelu(z)", "dy gelu'(z)", gelu);
constinit const ActivationParts gelu_tanh_parts = parts_of<GeluTanh>("gelu_tanh(z)", "dy gelu_tanh'(z)", gelu_tanh);

}  // namespace retrace
