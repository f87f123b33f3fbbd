// smooth_l1, and huber, a multiple of it.
#include <retrace/ops/loops/pair_loss.h>

namespace retrace {
namespace {

struct SmoothL1 {
  double beta;

  Formulas formulas() const {
    if (beta == 0) return {"d = x - t, l = |d|", "dx = dl sign d, dt = -dx"};
    const std::string b = text(beta);
    return {text("d = x - t, l = d^2 / ", 2 * beta, " where |d| < ", b, ", else |d| - ", beta / 2),
            text("dx = dl d / ", b, " where |d| < ", b, ", else dl sign d, dt = -dx")};
  }
  AttributeList constants() const { return {{"beta", beta}}; }
  static constexpr OpInfo info{"smooth_l1",
                               "d = x - t, l = d^2 / 2 b where |d| < b, else |d| - b / 2",
                               "dx = dl d / b where |d| < b, else dl sign d, dt = -dx",
                               "x, t",
                               pair_loss_formulas<SmoothL1>,
                               pair_loss_attributes<SmoothL1>};

  template <class T> T value(T x, T t) const {
    const T b = static_cast<T>(beta), d = abs(x - t);
    return d < b ? T(0.5) * d * (d / b) : d - T(0.5) * b;  // d * d could overflow, d / b cannot
  }
  template <class T> T dx(T x, T t) const {
    const T b = static_cast<T>(beta), d = x - t;
    if (abs(d) < b) return d / b;
    return d > T(0) ? T(1) : d < T(0) ? T(-1) : d == T(0) ? slope_at_kink(d) : d;  // NaN
  }
  template <class T> T dt(T x, T t) const { return -dx(x, t); }
};

}  // namespace

Tensor smooth_l1(const Tensor& x, const Tensor& target, double beta, Reduction reduction) {
  if (!(beta >= 0 && beta <= std::numeric_limits<double>::max()))
    throw ValueError(text("smooth_l1: beta is ", beta, "; it must be 0 or more and finite"));
  return pair_loss(x, target, reduction, SmoothL1{beta});
}

Tensor huber(const Tensor& x, const Tensor& target, double delta, Reduction reduction) {
  if (!(delta > 0 && delta <= std::numeric_limits<double>::max()))
    throw ValueError(text("huber: delta is ", delta, "; it must be positive and finite"));
  return scale(smooth_l1(x, target, delta, reduction), delta);
}

}  // namespace retrace
