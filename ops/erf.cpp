#include <numbers>

#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Erf {
  static constexpr OpInfo info{"erf", "y = erf(x)", "dx = 2 dy e^(-x^2) / sqrt(pi)", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return erf(x); }
  template <class T> static T slope(T x, T) { return T(2 * std::numbers::inv_sqrtpi) * exp(-x * x); }
};

}  // namespace

Tensor erf(const Tensor& x) { return unary<Erf>(x); }

}  // namespace retrace
