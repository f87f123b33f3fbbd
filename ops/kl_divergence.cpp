#include <retrace/ops/loops/pair_loss.h>

namespace retrace {
namespace {

struct KlDivergence {
  bool log_target;

  Formulas formulas() const {
    if (log_target) return {"l = e^t (t - x)", "dx = -dl e^t, dt = dl e^t (t - x + 1)"};
    return {info.forward, info.backward};
  }
  AttributeList constants() const { return {{"log_target", log_target}}; }
  double counted(const Shape& x) const {
    return x.rank() == 0 ? 1 : static_cast<double>(x.first(x.rank() - 1).numel());
  }
  static constexpr OpInfo info{"kl_divergence",
                               "l = t (log t - x)",
                               "dx = -dl t, dt = dl (log t - x + 1)",
                               "x, t",
                               pair_loss_formulas<KlDivergence>,
                               pair_loss_attributes<KlDivergence>};

  template <class T> T probability(T t) const { return log_target ? exp(t) : t; }
  template <class T> T log_ratio(T x, T t) const { return (log_target ? t : log(t)) - x; }
  // A class of probability 0 adds 0 (-inf), which is 0 here.
  template <class T> T value(T x, T t) const {
    const T p = probability(t);
    return p == T(0) ? T(0) : p * log_ratio(x, t);
  }
  template <class T> T dx(T, T t) const { return -probability(t); }
  template <class T> T dt(T x, T t) const {
    const T p = probability(t);
    if (p == T(0)) return T(0);
    return (log_target ? p : T(1)) * (log_ratio(x, t) + T(1));
  }
};

}  // namespace

Tensor kl_divergence(const Tensor& log_probabilities, const Tensor& target, KlDivergenceOptions options) {
  return pair_loss(log_probabilities, target, options.reduction, KlDivergence{options.log_target});
}

}  // namespace retrace
