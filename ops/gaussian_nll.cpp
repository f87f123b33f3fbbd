#include <numbers>

#include <retrace/ops/loops/composed_loss.h>
#include <retrace/ops/op.h>

namespace retrace {

Tensor gaussian_nll(const Tensor& x, const Tensor& target, const Tensor& variance, const GaussianNllOptions& options) {
  check_alike("gaussian_nll", {{&x, "x"}, {&target, "target"}});
  check_broadcasts("gaussian_nll", "variance", variance, "x", x);
  if (!(options.eps >= 0)) throw ValueError(text("gaussian_nll: eps is ", options.eps, "; it must be 0 or more"));
  const Tensor too_small = logical_and(greater_equal(variance, 0.0), less_equal(variance, options.eps));
  const Tensor v = masked_fill(variance, too_small, options.eps);
  const Tensor losses = scale(log(v) + square(x - target) / v, 0.5);
  return reduced(options.full ? losses + std::log(2 * std::numbers::pi) / 2 : losses, options.reduction);
}

}  // namespace retrace
