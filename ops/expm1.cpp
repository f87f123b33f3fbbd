#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Expm1 {
  static constexpr OpInfo info{"expm1", "y = e^x - 1", "dx = dy e^x", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return expm1(x); }
  template <class T> static T slope(T x, T) {  // not y + 1, which is 0 below the precision of y = -1
    return exp(x);
  }
};

}  // namespace

Tensor expm1(const Tensor& x) { return unary<Expm1>(x); }

}  // namespace retrace
