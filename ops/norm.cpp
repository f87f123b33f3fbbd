#include <retrace/ops/loops/reduction.h>
#include <retrace/ops/loops/rescaled.h>

namespace retrace {
namespace {

struct Norm {
  static Formulas formulas(const Record& r) { return {"y = sqrt(sum x^2)" + along_reduced(r), "dx = dy x / y"}; }
  static constexpr OpInfo info{"norm", "y = sqrt(sum x^2)", "dx = dy x / y", "x", formulas, reduction_attributes};
  static constexpr bool needs_elements = false;

  template <class T> static T value(const Terms<T>& x) {
    const Wide<T> squares = x.sum([](auto element) { return element * element; });
    if (keeps_digits(squares)) return static_cast<T>(sqrt(squares));
    const PowerOfTwo scale = to_unit_size(largest_of(x));
    return static_cast<T>(scale.into(sqrt(x.sum([=](auto element) {
      const Wide<T> scaled = scale.times(element);
      return scaled * scaled;
    }))));
  }
  template <class T> static NoContext context(const Terms<T>&, T) { return {}; }
  template <class T> static T slope(T x, T y, NoContext) { return y == T(0) ? slope_at_kink(x) : x / y; }
};

}  // namespace

Tensor norm(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Norm>(x, axes, options); }

}  // namespace retrace
