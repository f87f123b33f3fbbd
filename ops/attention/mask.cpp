#include <retrace/ops/attention/mask.h>

#include <algorithm>
#include <limits>

#include <retrace/ops/loops/operands.h>

namespace retrace {
namespace {

constexpr double hidden = -std::numeric_limits<double>::infinity();

void check_length(const char* function, const char* role, std::int64_t length) {
  if (length < 0) throw ShapeError(text(function, ": ", role, " is ", length, "; a mask has an extent of 0 or more"));
}

/// An additive mask that hides what `flags` (i64, 1 hides) names.
Tensor hiding(const char* function, const Tensor& flags, Dtype dtype) {
  if (dtype == i64)
    throw DtypeError(text(function, ": i64 has no -infinity; make the mask in the dtype of what it is added to"));
  return masked_fill(zeros(flags.shape(), dtype), flags, hidden);
}

}  // namespace

Shape attention_weights_shape(const Shape& q, std::int64_t keys, int heads) {
  const Shape scores = q.replaced(q.rank() - 1, keys);
  return heads == 1 ? scores : scores.inserted(q.rank() - 2, heads);
}

Tensor additive_mask(const Tensor& mask, const Shape& weights, Dtype dtype, int heads) {
  if (!mask.defined()) return {};
  Tensor result = mask.detach();
  if (mask.dtype() == i64) {
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

Tensor causal_mask(std::int64_t queries, std::int64_t keys, Dtype dtype) {
  check_length("causal_mask", "queries", queries);
  check_length("causal_mask", "keys", keys);
  Tensor future = empty({queries, keys}, i64, "causal_mask");
  std::int64_t* flags = future.mutable_values<std::int64_t>().data();
  for (std::int64_t i = 0; i < queries && keys > 0; ++i, flags += keys) {
    const std::int64_t seen = std::clamp<std::int64_t>(i + 1 + keys - queries, 0, keys);
    std::fill(flags, flags + seen, 0);
    std::fill(flags + seen, flags + keys, 1);
  }
  return hiding("causal_mask", future, dtype);
}

Tensor causal_mask(std::int64_t length, Dtype dtype) { return causal_mask(length, length, dtype); }

Tensor padding_mask(const Tensor& lengths, std::int64_t time, Dtype dtype) {
  check_defined("padding_mask", lengths, "lengths");
  check_length("padding_mask", "time", time);
  if (lengths.dtype() != i64 || lengths.rank() != 1)
    throw ShapeError(text("padding_mask: ", describe_operand("lengths", lengths), " of dtype ", lengths.dtype(),
                          " must be i64 of shape [batch], one per sample"));
  Tensor padding = empty({lengths.dim(0), 1, time}, i64, "padding_mask");
  std::int64_t* flags = padding.mutable_values<std::int64_t>().data();
  for (const std::int64_t length : lengths.values<std::int64_t>()) {
    if (length < 0 || length > time)
      throw IndexError(text("padding_mask: a length of ", length, " is outside 0 to ", time, "; check ",
                            describe_operand("lengths", lengths)));
    std::fill(flags, flags + length, 0);
    std::fill(flags + length, flags + time, 1);
    flags += time;
  }
  return hiding("padding_mask", padding, dtype);
}

}  // namespace retrace
