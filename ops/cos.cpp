#include <cmath>

#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Cos {
  static constexpr OpInfo info{"cos", "y = cos x", "dx = -dy sin x", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, Attributes) {
    using std::cos;
    return cos(x);
  }
  template <class T> static T slope(T x, T, Attributes) {
    using std::sin;
    return -sin(x);
  }
};

}  // namespace

Tensor cos(const Tensor& x) { return unary<Cos>(x); }

}  // namespace retrace
