#include <retrace/ops/loops/composed_loss.h>
#include <retrace/ops/op.h>

namespace retrace {

Tensor hinge_embedding(const Tensor& x, const Tensor& target, double margin, Reduction reduction) {
  check_alike("hinge_embedding", {{&x, "x"}});
  const Tensor t = checked_signs("hinge_embedding", target, x.shape(), x.dtype());
  return reduced(where(equal(t, 1.0), x, relu(margin - x)), reduction);
}

}  // namespace retrace
