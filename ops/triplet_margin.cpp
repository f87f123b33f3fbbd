#include <retrace/ops/loops/composed_loss.h>
#include <retrace/ops/op.h>

namespace retrace {

Tensor triplet_margin(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                      const TripletMarginOptions& options) {
  check_alike("triplet_margin", {{&anchor, "anchor"}, {&positive, "positive"}, {&negative, "negative"}});
  if (anchor.rank() == 0) throw ShapeError("triplet_margin: anchor[] must be [..., features]; reshape it");
  const auto distance = [&](const Tensor& u, const Tensor& v) { return norm((u - v) + options.eps, -1); };
  Tensor to_negative = distance(anchor, negative);
  if (options.swap) to_negative = minimum(to_negative, distance(positive, negative));
  return reduced(relu((distance(anchor, positive) - to_negative) + options.margin), options.reduction);
}

}  // namespace retrace
