#include <retrace/ops/loops/reduction.h>

namespace retrace {
namespace {

template <class T> Wide<T> count_of(const Terms<T>& x) { return static_cast<Wide<T>>(static_cast<double>(x.count())); }

template <class T> Wide<T> mean_of(const Terms<T>& x) {
  return x.sum([](auto element) { return element; }) / count_of(x);
}

struct Var {
  static Formulas formulas(const Record& r) {
    return {"y = mean (x - mean x)^2" + along_reduced(r),
            text("dx = 2 dy (x - mean x) / ", terms_of(r), along_reduced(r))};
  }
  static constexpr OpInfo info{"var",    "y = mean (x - mean x)^2", "dx = 2 dy (x - mean x) / n", "x",
                               formulas, reduction_attributes};
  static constexpr bool needs_elements = false;

  template <class T> struct Context {
    T mean;
    T two_nths;
  };
  // Two passes: sum x^2 - (sum x)^2 / n would lose everything where the mean is large.
  template <class T> static T value(const Terms<T>& x) {
    const Wide<T> mean = mean_of(x);
    return static_cast<T>(x.sum([=](Wide<T> element) { return (element - mean) * (element - mean); }) / count_of(x));
  }
  template <class T> static Context<T> context(const Terms<T>& x, T) {
    return {static_cast<T>(mean_of(x)), static_cast<T>(Wide<T>(2) / count_of(x))};
  }
  template <class T> static T slope(T x, T, const Context<T>& of_set) { return of_set.two_nths * (x - of_set.mean); }
};

}  // namespace

Tensor var(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Var>(x, axes, options); }

}  // namespace retrace
