#include <retrace/ops/reduction.h>

namespace retrace {
namespace {

struct Mean {
  static constexpr OpInfo info{"mean", "y = (sum x) / n", "dx = dy / n", "x"};
  static constexpr bool needs_elements = false;
  static constexpr bool reads_x = false;

  template <class T>
  static T value(const Terms<T>& x) {
    const Wide<T> n = static_cast<Wide<T>>(static_cast<double>(x.count()));
    return static_cast<T>(x.sum([](auto element) { return element; }) / n);
  }
  template <class T>
  static T context(const Terms<T>& x, T) {
    return T(1) / static_cast<T>(static_cast<double>(x.count()));
  }
  template <class T>
  static T slope(T, T, T one_nth) {
    return one_nth;
  }
};

}  // namespace

Tensor mean(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Mean>(x, axes, options); }

}  // namespace retrace
