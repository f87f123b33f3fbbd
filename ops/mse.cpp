#include <retrace/ops/loops/pair_loss.h>

namespace retrace {
namespace {

struct SquaredError {
  static constexpr OpInfo info{"mse",
                               "l = (x - t)^2",
                               "dx = 2 dl (x - t), dt = -dx",
                               "x, t",
                               pair_loss_formulas<SquaredError>,
                               pair_loss_attributes<SquaredError>};

  template <class T> static T value(T x, T t) { return (x - t) * (x - t); }
  template <class T> static T dx(T x, T t) { return T(2) * (x - t); }
  template <class T> static T dt(T x, T t) { return T(2) * (t - x); }
};

}  // namespace

Tensor mse(const Tensor& x, const Tensor& target, Reduction reduction) {
  return pair_loss<SquaredError>(x, target, reduction);
}

}  // namespace retrace
