#include <cmath>
#include <numbers>

#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Erf {
  static constexpr OpInfo info{"erf", "y = erf(x)", "dx = 2 dy e^(-x^2) / sqrt(pi)", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, Attributes) {
    using std::erf;
    return erf(x);
  }
  template <class T> static T slope(T x, T, Attributes) {
    using std::exp;
    return T(2 * std::numbers::inv_sqrtpi) * exp(-x * x);
  }
};

}  // namespace

Tensor erf(const Tensor& x) { return unary<Erf>(x); }

}  // namespace retrace
