#include <cmath>

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Log {
  static constexpr OpInfo info{"log", "y = ln x", "dx = dy / x", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, Attributes) {
    using std::log;
    return log(x);
  }
  template <class T> static T slope(T x, T, Attributes) { return 1 / x; }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::log;
};

}  // namespace

Tensor log(const Tensor& x) { return unary<Log>(x); }

}  // namespace retrace
