#include <cmath>

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/ops.h>
#include <retrace/ops/unary.h>

namespace retrace {
namespace {

struct Exp {
  static constexpr OpInfo info{"exp", "y = e^x", "dx = dy y", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::y;

  template <class T>
  static T value(T x, Attributes) {
    using std::exp;
    return exp(x);
  }
  template <class T>
  static T slope(T, T y, Attributes) {
    return y;
  }
  template <class T>
  static void values(const T* x, T* y, std::int64_t count) {
    kernels::map_kernels<T>().exp(x, y, count);
  }
};

}  // namespace

Tensor exp(const Tensor& x) { return unary<Exp>(x); }

}  // namespace retrace
