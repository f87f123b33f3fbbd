#include <retrace/ops/loops/composed_loss.h>
#include <retrace/ops/op.h>

namespace retrace {

Tensor soft_margin(const Tensor& x, const Tensor& target, Reduction reduction) {
  check_alike("soft_margin", {{&x, "x"}});
  const Tensor t = checked_signs("soft_margin", target, x.shape(), x.dtype());
  return reduced(softplus(-(t * x)), reduction);
}

}  // namespace retrace
