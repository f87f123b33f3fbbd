#include <numbers>

#include <retrace/ops/loops/ordered_sum.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Erf {
  static constexpr OpInfo info{"erf", "y = erf(x)", "dx = 2 dy e^(-x^2) / sqrt(pi)", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return erf(x); }
  // A rounding of x^2 counts x^2 times: of f32, the square is exact.
  template <class T> static T slope(T x, T) {
    const auto wide = static_cast<Wide<T>>(x);
    return static_cast<T>(2 * std::numbers::inv_sqrtpi * exp(-wide * wide));
  }
};

}  // namespace

Tensor erf(const Tensor& x) { return unary<Erf>(x); }

}  // namespace retrace
