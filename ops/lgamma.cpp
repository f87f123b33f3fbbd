#include <cmath>
#include <numbers>

#include <retrace/ops/loops/ordered_sum.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

/// ln |Gamma(x)|. The lgamma of C++ also writes the sign of Gamma to a global variable, which threads would share.
double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

/// The derivative of ln |Gamma(x)|. Below 0 it is that of 1 - x and a term of its poles, and the step from x to x + 1
/// adds 1 / x, which leads to numbers large enough for the asymptotic series.
template <class T> T digamma(T x) {
  const auto real = static_cast<double>(x);
  if (real == 0) return -1 / x;
  if (real < 0) {
    const T turn = std::numbers::pi * (x - std::round(real));  // NaN at -infinity
    return real == std::round(real) ? T(std::numeric_limits<double>::quiet_NaN())
                                    : digamma(1 - x) - std::numbers::pi * cos(turn) / sin(turn);
  }
  T steps(0);
  for (; x < 10; x += 1) steps += 1 / x;
  constexpr double series[] = {1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12};
  const T z = 1 / (x * x);
  T sum(0);
  for (int k = 6; k >= 0; --k) sum = z * (series[k] + sum);  // B_2n / (2n x^2n), n = k + 1
  return log(x) - 0.5 / x - sum - steps;
}

template <class T> T log_gamma_of(T x) { return static_cast<T>(log_gamma(x)); }
Dual log_gamma_of(Dual x) { return chain(log_gamma(x.value), digamma(x.value), x.tangent); }

struct Lgamma {
  static constexpr OpInfo info{"lgamma", "y = lgamma(x)", "dx = dy digamma(x)", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return log_gamma_of(x); }
  template <class T> static T slope(T x, T) { return static_cast<T>(digamma(static_cast<Wide<T>>(x))); }
};

}  // namespace

Tensor lgamma(const Tensor& x) { return unary<Lgamma>(x); }

}  // namespace retrace
