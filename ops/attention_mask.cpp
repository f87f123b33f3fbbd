#include <retrace/ops/attention_mask.h>

#include <limits>

#include <retrace/ops/operands.h>

namespace retrace {

Shape attention_weights_shape(const Shape& q, std::int64_t keys, int heads) {
  const Shape scores = q.replaced(q.rank() - 1, keys);
  return heads == 1 ? scores : scores.inserted(q.rank() - 2, heads);
}

Tensor additive_mask(const Tensor& mask, const Shape& weights, Dtype dtype, int heads) {
  if (!mask.defined()) return {};
  Tensor result = mask.detach();
  if (mask.dtype() == i64) {
    const double hidden = -std::numeric_limits<double>::infinity();
    result = where(mask, full({}, 0, dtype), full({}, hidden, dtype));
  } else if (mask.dtype() != dtype) {
    result = to(result, dtype);
  }
  const bool of_each_head = heads > 1 && result.rank() > 2 && result.rank() == weights.rank() - 1;
  if (of_each_head) result = unsqueeze(result, -3);
  if (broadcast_shapes(weights, result.shape(), "attention", "scores ", "mask") != weights)
    throw ShapeError(text("attention: ", describe_operand("mask", mask), " does not fit scores ", weights,
                          "; it broadcasts to [..., heads, queries, keys]"));
  return result;
}

}  // namespace retrace
