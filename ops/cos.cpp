#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Cos {
  static constexpr OpInfo info{"cos", "y = cos x", "dx = -dy sin x", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return cos(x); }
  template <class T> static T slope(T x, T) { return -sin(x); }
};

}  // namespace

Tensor cos(const Tensor& x) { return unary<Cos>(x); }

}  // namespace retrace
