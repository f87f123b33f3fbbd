#include <cmath>

#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Log1p {
  static constexpr OpInfo info{"log1p", "y = ln(1 + x)", "dx = dy / (1 + x)", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, Attributes) {
    using std::log1p;
    return log1p(x);
  }
  template <class T> static T slope(T x, T, Attributes) { return 1 / (1 + x); }
};

}  // namespace

Tensor log1p(const Tensor& x) { return unary<Log1p>(x); }

}  // namespace retrace
