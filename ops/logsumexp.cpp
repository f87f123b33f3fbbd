#include <retrace/ops/loops/masked.h>
#include <retrace/ops/loops/reduction.h>

namespace retrace {
namespace {

struct LogSumExp {
  static Formulas formulas(const Record& r) { return {"y = ln sum e^x" + along_reduced(r), "dx = dy e^(x - y)"}; }
  static constexpr OpInfo info{"logsumexp", "y = ln sum e^x", "dx = dy e^(x - y)", "x", formulas, reduction_attributes};
  static constexpr bool needs_elements = false;

  /// NaN if any element is NaN, -inf if there is none.
  template <class T> static T largest(const Terms<T>& x) {
    T max_x = static_cast<T>(minus_infinity);
    x.for_each([&](std::int64_t k) { max_x = isnan(max_x) || x.x[k] <= max_x ? max_x : x.x[k]; });
    return max_x;
  }
  template <class T> static Wide<T> sum_of_exponentials(const Terms<T>& x, T max_x) {
    const Wide<T> shift = static_cast<Wide<T>>(max_x);
    return x.sum([=](Wide<T> element) { return exp(element - shift); });
  }
  template <class T> static T value(const Terms<T>& x) {
    const T max_x = largest(x);
    if (isinf(max_x)) return max_x < T(0) ? static_cast<T>(minus_infinity) : max_x;  // nothing but -inf, or an inf
    return static_cast<T>(static_cast<Wide<T>>(max_x) + log(sum_of_exponentials(x, max_x)));
  }
  template <class T> struct Context { T max_x, one_over_sum; };
  // e^(x - y), where y is small enough to have kept the digits of ln sum e^(x - max x).
  template <class T> static Context<T> context(const Terms<T>& x, T y) {
    if (y > T(-8) && y < T(8)) return {y, T(1)};
    const T max_x = largest(x);
    return {max_x, static_cast<T>(Wide<T>(1) / sum_of_exponentials(x, max_x))};
  }
  template <class T> static T slope(T x, T y, const Context<T>& of_set) {
    return is_hidden(y) ? T(0) : exp(x - of_set.max_x) * of_set.one_over_sum;
  }
};

}  // namespace

Tensor logsumexp(const Tensor& x, const Axes& axes, ReduceOptions options) {
  return reduce<LogSumExp>(x, axes, options);
}

}  // namespace retrace
