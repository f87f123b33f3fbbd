#include <retrace/ops/reduction.h>

namespace retrace {
namespace {

struct Sum {
  static constexpr OpInfo info{"sum", "y = sum x", "dx = dy", "x"};
  static constexpr bool needs_elements = false;
  static constexpr bool reads_x = false;

  template <class T>
  static T value(const Terms<T>& x) {
    return static_cast<T>(x.sum([](auto element) { return element; }));
  }
  template <class T>
  static NoContext context(const Terms<T>&, T) {
    return {};
  }
  template <class T>
  static T slope(T, T, NoContext) {
    return T(1);
  }
};

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Sum>(x, axes, options); }

}  // namespace retrace
