#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Sqrt {
  static constexpr OpInfo info{"sqrt", "y = sqrt x", "dx = dy / (2 y)", "x"};
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x) { return sqrt(x); }
  template <class T> static T slope(T, T y) { return T(0.5) / y; }
};

}  // namespace

Tensor sqrt(const Tensor& x) { return unary<Sqrt>(x); }

}  // namespace retrace
