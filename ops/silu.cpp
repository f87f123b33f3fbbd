#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Silu {
  static constexpr OpInfo info{"silu", "s = 1 / (1 + e^-x), y = x s", "dx = dy (s + x s (1 - s))", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, Attributes) { return x * logistic(x); }
  template <class T> static T slope(T x, T, Attributes) { return logistic(x) + x * logistic_slope(x); }
};

}  // namespace

Tensor silu(const Tensor& x) { return unary<Silu>(x); }

}  // namespace retrace
