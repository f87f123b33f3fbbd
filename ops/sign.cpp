#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Sign {
  static constexpr OpInfo info{"sign", "y = 1 where x > 0, -1 where x < 0, else 0", "dx = 0", "x"};
  static constexpr Saves saves = Saves::nothing;
  static constexpr bool slope_is_zero = true;

  template <class T> static T value(T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : isnan(x) ? x : T(0); }
};

}  // namespace

Tensor sign(const Tensor& x) { return unary<Sign>(x); }

}  // namespace retrace
