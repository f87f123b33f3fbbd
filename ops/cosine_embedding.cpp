#include <retrace/ops/loops/composed_loss.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// x / max(|x|, 1e-6) along the last axis.
Tensor direction(const Tensor& x) {
  const Tensor length = norm(x, -1, {.keepdims = true});
  return x / masked_fill(length, less(length, 1e-6), 1e-6);
}

}  // namespace

Tensor cosine_embedding(const Tensor& a, const Tensor& b, const Tensor& target, double margin, Reduction reduction) {
  check_alike("cosine_embedding", {{&a, "a"}, {&b, "b"}});
  if (a.rank() == 0) throw ShapeError("cosine_embedding: a[] and b[] must be [..., features]; reshape them");
  const Tensor t = checked_signs("cosine_embedding", target, a.shape().first(a.rank() - 1), a.dtype());
  const Tensor cosine = sum(direction(a) * direction(b), -1);
  return reduced(where(equal(t, 1.0), 1 - cosine, relu(cosine - margin)), reduction);
}

}  // namespace retrace
