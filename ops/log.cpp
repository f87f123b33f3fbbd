#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Log {
  static constexpr OpInfo info{"log", "y = ln x", "dx = dy / x", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return log(x); }
  template <class T> static T slope(T x, T) { return 1 / x; }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::log;
};

}  // namespace

Tensor log(const Tensor& x) { return unary<Log>(x); }

}  // namespace retrace
