#include <retrace/ops/attention/mask.h>

#include <retrace/ops/loops/ids.h>
#include <retrace/ops/loops/masked.h>

namespace retrace {
namespace {

void check_length(const char* function, const char* role, std::int64_t length) {
  if (length < 0) throw ShapeError(text(function, ": ", role, " is ", length, "; a mask has an extent of 0 or more"));
}

/// An additive mask that hides what `flags` (i64, 1 hides) names.
Tensor hiding(const char* function, const Tensor& flags, Dtype dtype) {
  if (dtype == i64)
    throw DtypeError(text(function, ": i64 has no -infinity; make the mask in the dtype of what it is added to"));
  return masked_fill(zeros(flags.shape(), dtype), flags, minus_infinity);
}

/// Query i sees keys j <= i + before.
Tensor triangle_mask(std::int64_t queries, std::int64_t keys, std::int64_t before, Dtype dtype) {
  Tensor future = empty({queries, keys}, i64, "causal_mask");
  std::int64_t* flags = OpAccess::values<std::int64_t>(future);
  for (std::int64_t i = 0; i < queries && keys > 0; ++i, flags += keys) {
    const std::int64_t seen = std::clamp<std::int64_t>(i + 1 + before, 0, keys);
    std::fill(flags, flags + seen, 0);
    std::fill(flags + seen, flags + keys, 1);
  }
  return hiding("causal_mask", future, dtype);
}

bool broadcasts(const Shape& shape, const Shape& to) {
  bool fits = shape.rank() <= to.rank();
  for (int axis = -1; fits && axis >= -shape.rank(); --axis) fits = shape[axis] == 1 || shape[axis] == to[axis];
  return fits;
}

/// Whether the mask [..., queries, keys] leaves out the axis of the only head.
bool leaves_out_heads(const Shape& mask, const Shape& scores) {
  return scores[-3] == 1 && !broadcasts(mask, scores) && broadcasts(mask, scores.erased(scores.rank() - 3));
}

}  // namespace

Shape attention_weights_shape(const Shape& q, std::int64_t keys, int heads) {
  const Shape scores = q.replaced(q.rank() - 1, keys);
  return heads == 1 ? scores : scores.inserted(q.rank() - 2, heads);
}

Shape attention_scores_shape(const Shape& q, std::int64_t keys, int heads) {
  return q.replaced(q.rank() - 1, keys).inserted(q.rank() - 2, heads);
}

void check_attention_mask(const char* function, const Tensor& mask, const Shape& scores) {
  if (!broadcasts(mask.shape(), scores) && !leaves_out_heads(mask.shape(), scores))
    throw ShapeError(text(function, ": ", describe_operand("mask", mask),
                          " does not broadcast to [batch..., heads, queries, keys], here ", scores,
                          ", aligned from the right; a mask for each sample is [batch..., 1, queries, keys]"));
}

Tensor as_additive(const Tensor& mask, Dtype dtype) {
  if (mask.dtype() == dual) return mask;  // with its tangent
  if (mask.dtype() != i64) return to(mask, dtype);
  return where(mask, full({}, 0, dtype), full({}, minus_infinity, dtype));
}

Tensor additive_mask(const Tensor& mask, const Shape& scores, Dtype dtype) {
  if (!mask.defined()) return {};
  check_attention_mask("attention", mask, scores);
  const bool has_axis_of_only_head = scores[-3] == 1 && mask.rank() > 2 && !leaves_out_heads(mask.shape(), scores);
  const Tensor result = as_additive(mask, dtype);
  return has_axis_of_only_head ? squeeze(result, -3) : result;
}

Tensor causal_mask(std::int64_t queries, std::int64_t keys, Dtype dtype) {
  check_length("causal_mask", "queries", queries);
  check_length("causal_mask", "keys", keys);
  return triangle_mask(queries, keys, keys - queries, dtype);
}
Tensor upper_left_mask(std::int64_t queries, std::int64_t keys, Dtype dtype) {
  return triangle_mask(queries, keys, 0, dtype);
}

Tensor causal_mask(std::int64_t length, Dtype dtype) { return causal_mask(length, length, dtype); }

Tensor padding_mask(const Tensor& lengths, std::int64_t time, Dtype dtype) {
  check_defined("padding_mask", lengths, "lengths");
  check_length("padding_mask", "time", time);
  if (lengths.dtype() != i64 || lengths.rank() != 1)
    throw ShapeError(text("padding_mask: ", describe_operand("lengths", lengths), " of dtype ", lengths.dtype(),
                          " must be i64 of shape [batch], one per sample"));
  check_lengths("padding_mask", lengths, "lengths", time);
  Tensor padding = empty({lengths.dim(0), 1, 1, time}, i64, "padding_mask");
  std::int64_t* flags = OpAccess::values<std::int64_t>(padding);
  for (const std::int64_t length : lengths.values<std::int64_t>()) {
    std::fill(flags, flags + length, 0);
    std::fill(flags + length, flags + time, 1);
    flags += time;
  }
  return hiding("padding_mask", padding, dtype);
}

}  // namespace retrace
