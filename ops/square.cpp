#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Square {
  static constexpr OpInfo info{"square", "y = x^2", "dx = dy 2 x", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, Attributes) { return x * x; }
  template <class T> static T slope(T x, T, Attributes) { return 2 * x; }
};

}  // namespace

Tensor square(const Tensor& x) { return unary<Square>(x); }

}  // namespace retrace
