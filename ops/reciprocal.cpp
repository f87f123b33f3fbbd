#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Reciprocal {
  static constexpr OpInfo info{"reciprocal", "y = 1 / x", "dx = -dy y^2", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x, Attributes) { return 1 / x; }
  template <class T> static T slope(T, T y, Attributes) { return -(y * y); }
};

}  // namespace

Tensor reciprocal(const Tensor& x) { return unary<Reciprocal>(x); }

}  // namespace retrace
