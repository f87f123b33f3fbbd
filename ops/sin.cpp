#include <cmath>

#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Sin {
  static constexpr OpInfo info{"sin", "y = sin x", "dx = dy cos x", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, Attributes) {
    using std::sin;
    return sin(x);
  }
  template <class T> static T slope(T x, T, Attributes) {
    using std::cos;
    return cos(x);
  }
};

}  // namespace

Tensor sin(const Tensor& x) { return unary<Sin>(x); }

}  // namespace retrace
