#include <retrace/ops/loops/composed_loss.h>
#include <retrace/ops/op.h>

namespace retrace {

Tensor margin_ranking(const Tensor& a, const Tensor& b, const Tensor& target, double margin, Reduction reduction) {
  check_alike("margin_ranking", {{&a, "a"}, {&b, "b"}});
  const Tensor t = checked_signs("margin_ranking", target, a.shape(), a.dtype());
  return reduced(relu(margin - t * (a - b)), reduction);
}

}  // namespace retrace
