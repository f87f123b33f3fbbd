#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/ordered_sum.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Mish {
  static constexpr OpInfo info{"mish", "t = tanh ln(1 + e^x), y = x t", "dx = dy (t + x (1 - t^2) / (1 + e^-x))", "x"};
  static constexpr Saves saves = Saves::x;

  // In f64 for f32, where each of these roundings would show.
  template <class T> static T value(T x) { return static_cast<T>(wide_value(static_cast<Wide<T>>(x))); }
  template <class T> static T slope(T x, T) { return static_cast<T>(wide_slope(static_cast<Wide<T>>(x))); }

  // tanh ln(1 + e^x) = n / (n + 2) with n = e^x (e^x + 2). Only e = e^-|x| is taken, which cannot overflow, and no
  // difference of nearly equal numbers; for x >= 0 both parts of the fraction are multiplied by e^2.
  template <class T> static T wide_value(T x) {
    const T e = exp_of_minus_size(x);
    if (x < 0) return at_least_lowest(x) * (e * (e + T(2)) / (e * (e + T(2)) + T(2)));
    const T upper = T(1) + T(2) * e;
    return x * (upper / (upper + T(2) * (e * e)));
  }
  // (1 - t^2) / (1 + e^-x) = 4 e^x (1 + e^x) / (n + 2)^2.
  template <class T> static T wide_slope(T x) {
    const T e = exp_of_minus_size(x), factor = finite_or_nan(x);
    if (x < 0) {
      const T n = e * (e + T(2)), below = n + T(2);
      return n / below + factor * (T(4) * e * (T(1) + e) / (below * below));
    }
    const T upper = T(1) + T(2) * e, below = upper + T(2) * (e * e);
    return upper / below + factor * (T(4) * e * e * (T(1) + e) / (below * below));
  }
};

}  // namespace

Tensor mish(const Tensor& x) { return unary<Mish>(x); }

}  // namespace retrace
