#include <cmath>

#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Sqrt {
  static constexpr OpInfo info{"sqrt", "y = sqrt x", "dx = dy / (2 y)", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x, Attributes) {
    using std::sqrt;
    return sqrt(x);
  }
  template <class T> static T slope(T, T y, Attributes) { return T(0.5) / y; }
};

}  // namespace

Tensor sqrt(const Tensor& x) { return unary<Sqrt>(x); }

}  // namespace retrace
