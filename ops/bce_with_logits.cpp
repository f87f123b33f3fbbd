#include <retrace/ops/loops/composed_loss.h>
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

  // x (1 - t) and not x - x t, which would lose the digits of 1 - t where x is large.
  template <class T> static T value(T x, T t) {
    const T factor = x < T(0) ? -t : T(1) - t;
    const T linear = isinf(x) && factor == T(0) ? T(0) : factor * x;  // an impossible class that is not the target
    return linear + log1p(exp_of_minus_size(x));
  }
  template <class T> static T dx(T x, T t) { return x < T(0) ? logistic(x) - t : (T(1) - t) - logistic(-x); }
  template <class T> static T dt(T x, T) { return -x; }
};

/// factor ln(1 + e^x), and 0 where the factor is, even for an infinite x.
Tensor weighted_softplus(const Tensor& factor, const Tensor& x) {
  const Tensor impossible = logical_and(equal(factor, 0.0), equal(x, std::numeric_limits<double>::infinity()));
  return factor * masked_fill(softplus(x), impossible, 0);
}

}  // namespace

Tensor bce_with_logits(const Tensor& logits, const Tensor& target, Reduction reduction) {
  return pair_loss<BinaryCrossEntropy>(logits, target, reduction);
}

Tensor bce_with_logits(const Tensor& logits, const Tensor& target, const BceWithLogitsOptions& options) {
  const Tensor& p = options.pos_weight;
  if (!p.defined()) return bce_with_logits(logits, target, options.reduction);
  check_alike(BinaryCrossEntropy::info.name, {{&logits, "x"}, {&target, "target"}});
  check_broadcasts(BinaryCrossEntropy::info.name, "pos_weight", p, "x", logits);
  return reduced(weighted_softplus(p * target, -logits) + weighted_softplus(1 - target, logits), options.reduction);
}

}  // namespace retrace
