#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Neg {
  static constexpr OpInfo info{"neg", "y = -x", "dx = -dy", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::nothing;
  static constexpr bool integers = true;

  template <class T> static T value(T x, Attributes) { return -x; }
  template <class T> static T slope(T, T, Attributes) { return T(-1); }
};

}  // namespace

Tensor neg(const Tensor& x) { return unary<Neg>(x); }

}  // namespace retrace
