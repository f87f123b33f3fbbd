#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Sin {
  static constexpr OpInfo info{"sin", "y = sin x", "dx = dy cos x", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return sin(x); }
  template <class T> static T slope(T x, T) { return cos(x); }
};

}  // namespace

Tensor sin(const Tensor& x) { return unary<Sin>(x); }

}  // namespace retrace
