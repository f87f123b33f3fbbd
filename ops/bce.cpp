#include <retrace/ops/loops/pair_loss.h>

namespace retrace {
namespace {

struct CrossEntropyOfProbability {
  static constexpr OpInfo info{"bce",
                               "a = max(ln x, -100), b = max(ln(1 - x), -100), l = -a t - b (1 - t)",
                               "dx = dl ((1 - t) [b > -100] / (1 - x) - t [a > -100] / x), dt = dl (b - a)",
                               "x, t",
                               pair_loss_formulas<CrossEntropyOfProbability>,
                               pair_loss_attributes<CrossEntropyOfProbability>};

  template <class T> static T at_least(T logarithm) { return logarithm < T(-100) ? T(-100) : logarithm; }
  template <class T> static T slope(T logarithm, T x) { return logarithm > T(-100) ? T(1) / x : T(0) * x; }

  template <class T> static T value(T x, T t) { return -at_least(log1p(-x)) * (T(1) - t) - at_least(log(x)) * t; }
  template <class T> static T dx(T x, T t) { return (T(1) - t) * slope(log1p(-x), T(1) - x) - t * slope(log(x), x); }
  template <class T> static T dt(T x, T) { return at_least(log1p(-x)) - at_least(log(x)); }
};

}  // namespace

Tensor bce(const Tensor& probabilities, const Tensor& target, Reduction reduction) {
  return pair_loss<CrossEntropyOfProbability>(probabilities, target, reduction);
}

}  // namespace retrace
