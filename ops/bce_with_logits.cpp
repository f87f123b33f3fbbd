#include <cmath>

#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/pair_loss.h>

namespace retrace {
namespace {

struct BinaryCrossEntropy {
  static constexpr OpInfo info{"bce_with_logits",
                               "l = max(x, 0) - x t + ln(1 + e^-|x|)",
                               "dx = dl (sigmoid x - t), dt = -dl x",
                               "x, t",
                               pair_loss_formulas<BinaryCrossEntropy>,
                               pair_loss_attributes<BinaryCrossEntropy>};

  template <class T> static T value(T x, T t) {
    using std::abs, std::exp, std::log1p;
    return (x > T(0) ? x : T(0)) - x * t + log1p(exp(-abs(x)));
  }
  template <class T> static T dx(T x, T t) { return logistic(x) - t; }
  template <class T> static T dt(T x, T) { return -x; }
};

}  // namespace

Tensor bce_with_logits(const Tensor& logits, const Tensor& target, Reduction reduction) {
  return pair_loss<BinaryCrossEntropy>(logits, target, reduction);
}

}  // namespace retrace
