#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Reciprocal {
  static constexpr OpInfo info{"reciprocal", "y = 1 / x", "dx = -dy y^2", "x"};
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x) { return 1 / x; }
  template <class T> static T slope(T, T y) { return -(y * y); }
};

}  // namespace

Tensor reciprocal(const Tensor& x) { return unary<Reciprocal>(x); }

}  // namespace retrace
