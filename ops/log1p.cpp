#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Log1p {
  static constexpr OpInfo info{"log1p", "y = ln(1 + x)", "dx = dy / (1 + x)", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return log1p(x); }
  template <class T> static T slope(T x, T) { return 1 / (1 + x); }
};

}  // namespace

Tensor log1p(const Tensor& x) { return unary<Log1p>(x); }

}  // namespace retrace
