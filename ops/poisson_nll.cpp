#include <numbers>

#include <retrace/ops/loops/composed_loss.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// t ln t - t + ln(2 pi t) / 2 where t > 1, else 0.
Tensor log_factorial(const Tensor& target) {
  const Tensor small = less_equal(target, 1.0), t = masked_fill(target, small, 1);
  const Tensor stirling = add(sub(mul(t, log(t)), t), scale(log(scale(t, 2 * std::numbers::pi)), 0.5));
  return masked_fill(stirling, small, 0);
}

}  // namespace

Tensor poisson_nll(const Tensor& x, const Tensor& target, const PoissonNllOptions& options) {
  check_alike("poisson_nll", {{&x, "x"}, {&target, "target"}});
  const Tensor losses =
      options.log_input ? sub(exp(x), mul(target, x)) : sub(x, mul(target, log(shift(x, options.eps))));
  return reduced(options.full ? add(losses, log_factorial(target)) : losses, options.reduction);
}

}  // namespace retrace
