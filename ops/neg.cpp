#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Neg {
  static constexpr OpInfo info{"neg", "y = -x", "dx = -dy", "x"};
  static constexpr Saves saves = Saves::nothing;
  static constexpr bool integers = true;

  template <class T> static T value(T x) { return -x; }
  template <class T> static T slope(T, T) { return T(-1); }
};

}  // namespace

Tensor neg(const Tensor& x) { return unary<Neg>(x); }

}  // namespace retrace
