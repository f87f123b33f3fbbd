#include <cmath>
#include <limits>

#include <retrace/ops/loops/reduction.h>

namespace retrace {
namespace {

struct LogSumExp {
  static Formulas formulas(const Record& r) { return {"y = ln sum e^x" + along_reduced(r), "dx = dy e^(x - y)"}; }
  static constexpr OpInfo info{"logsumexp", "y = ln sum e^x", "dx = dy e^(x - y)", "x", formulas, reduction_attributes};
  static constexpr bool needs_elements = false;

  template <class T> static T value(const Terms<T>& x) {
    using std::exp, std::log, std::isinf, std::isnan;
    T max_x = static_cast<T>(-std::numeric_limits<double>::infinity());
    x.for_each([&](std::int64_t k) { max_x = isnan(max_x) || x.x[k] <= max_x ? max_x : x.x[k]; });
    if (isinf(max_x)) return max_x;  // nothing but -inf, or an inf
    const Wide<T> shift = static_cast<Wide<T>>(max_x);
    return static_cast<T>(shift + log(x.sum([=](Wide<T> element) { return exp(element - shift); })));
  }
  template <class T> static NoContext context(const Terms<T>&, T) { return {}; }
  template <class T> static T slope(T x, T y, NoContext) {
    using std::exp, std::isinf;
    return isinf(y) && y < T(0) ? T(0) : exp(x - y);
  }
};

}  // namespace

Tensor logsumexp(const Tensor& x, const Axes& axes, ReduceOptions options) {
  return reduce<LogSumExp>(x, axes, options);
}

}  // namespace retrace
