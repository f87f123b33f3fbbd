// Attention of q, k and v that lie together in the rows of one tensor, where they stay.
#include <retrace/ops/attention/composed.h>
#include <retrace/ops/attention/recorded.h>

namespace retrace {
namespace {

struct Packing {
  std::int64_t heads, features, values;  // of a head: d of q and of k, and the length of its part of v
  PackedLayout layout;

  std::int64_t columns() const { return heads * (2 * features + values); }
  /// Where part 0 (q), 1 (k) or 2 (v) of a head begins in a row.
  std::int64_t start(int part, std::int64_t head) const {
    if (layout == PackedLayout::by_head) return head * (2 * features + values) + part * features;
    return part * heads * features + head * (part == 2 ? values : features);
  }
};

AttentionSizes sizes_of(const Shape& qkv, std::int64_t queries, const Packing& packing) {
  return {.batch = qkv.first(qkv.rank() - 2).numel(),
          .heads = packing.heads,
          .queries = queries,
          .keys = qkv[-2],
          .features = packing.features,
          .values = packing.values,
          .scale = usual_scale(packing.features)};
}

template <class T> Matrices<T> part_of(T* qkv, int part, std::int64_t rows, const Packing& packing) {
  const std::int64_t columns = packing.columns();
  const std::int64_t head_stride = packing.start(part, 1) - packing.start(part, 0);
  return {qkv + packing.start(part, 0), columns, head_stride, rows * columns};
}

template <class T> AttentionOperands<T> parts_of(T* qkv, std::int64_t rows, const Packing& packing) {
  return {part_of(qkv, 0, rows, packing), part_of(qkv, 1, rows, packing), part_of(qkv, 2, rows, packing)};
}

using Attributes = AttentionAttributes<Packing>;

Formulas packed_attention_formulas(const Record& r) {
  const auto& [packing, hiding] = r.attributes<Attributes>();
  const std::string end = for_each_head(packing.heads);
  const Formulas all = attention_formulas(r, sizes_of(r.in(0).shape, r.out(0).shape[-2], packing), hiding, 1);
  return {text("[q; k; v] = qkv along axis -1, ", all.forward, end),
          text(all.backward, ", dqkv = [dq; dk; dv] along axis -1", end)};
}
AttributeList packed_attention_attributes(const Record& r) {
  const auto& [packing, hiding] = r.attributes<Attributes>();
  AttributeList list = attention_attributes(r, packing.heads, hiding);
  list.push_back({"key_size", packing.features});
  list.push_back({"layout", packing.layout == PackedLayout::by_head ? "by_head" : "by_kind"});
  list.push_back({"queries", r.out(0).shape[-2]});
  return list;
}
constexpr OpInfo packed_attention_info{
    "packed_attention",
    "[q; k; v] = qkv along axis -1, w = softmax(q k^T / sqrt(d)), y = w v, for each head",
    "dw = dy v^T, ds = w (dw - sum dw w) along axis -1, dq = ds k / sqrt(d), dk = ds^T q / sqrt(d), "
    "dv = w^T dy, dqkv = [dq; dk; dv] along axis -1, for each head",
    "qkv, mask",
    packed_attention_formulas,
    packed_attention_attributes};

void packed_attention_backward(Record& r) {
  dispatch_real(r.out(0).dtype, packed_attention_info.name, [&]<class T>(T) {
    const auto& [packing, hiding] = r.attributes<Attributes>();
    const std::int64_t rows = r.in(0).shape[-2], queries = r.out(0).shape[-2];
    const Matrices<const T> dy = in_features(r.grad_out<T>(0), queries, packing.values, packing.heads);
    const bool all_is_written = queries == rows && dy.data != nullptr;
    const GradientSlot<T> slot = all_is_written ? attention_slot<T>(r, 0) : r.grad_in<T>(0, Begin::zeroed);
    attention_backward(r, sizes_of(r.in(0).shape, queries, packing),
                       AttentionGradient<T>{.in = parts_of(r.saved(0).values<T>(), rows, packing),
                                            .weights = nullptr,
                                            .dy = dy,
                                            .dweights = nullptr,
                                            .out = parts_of(slot.values, rows, packing),
                                            .add_v = slot.add,
                                            .add_q = slot.add,
                                            .add_k = slot.add},
                       hiding, 1);
  });
}

Packing packing_of(const Tensor& qkv, const PackedAttentionOptions& options) {
  const std::int64_t heads = options.heads, features = options.key_size;
  if (qkv.rank() < 2 || qkv.rank() >= max_rank)
    throw ShapeError(text("packed_attention: ", describe_operand("qkv", qkv),
                          " must be [..., rows, columns] of rank 2 to ", max_rank - 1, "; reshape it"));
  const bool has_room = heads >= 1 && features >= 1 && features <= qkv.dim(-1) / (2 * heads);
  const std::int64_t values = has_room ? qkv.dim(-1) / heads - 2 * features : 0;
  if (values < 1 || qkv.dim(-1) != heads * (2 * features + values))
    throw ShapeError(text("packed_attention: the ", qkv.dim(-1), " columns of ", describe_operand("qkv", qkv),
                          " are not ", heads, " heads of a query and a key of ", features,
                          " features each and a value; they must be heads (2 key_size + value_size)"));
  if (options.queries < 0 || options.queries > qkv.dim(-2))
    throw ShapeError(text("packed_attention: ", options.queries, " queries of ", describe_operand("qkv", qkv),
                          ", which has ", qkv.dim(-2), " rows; ask for at most as many, or 0 for all"));
  return {heads, features, values, options.layout};
}

/// q, k or v as a tensor of its own, its heads side by side.
Tensor unpacked(const Tensor& qkv, int part, std::int64_t rows, const Packing& packing) {
  const std::int64_t length = part == 2 ? packing.values : packing.features;
  const int axis = qkv.rank() - 1;
  Tensors heads;
  for (std::int64_t head = 0; head < packing.heads; ++head) {
    std::array<SliceIndex, max_rank> index{all, all, all, all, all, all, all, all};
    const std::int64_t start = packing.start(part, head);
    index[static_cast<std::size_t>(axis - 1)] = range(0, rows);
    index[static_cast<std::size_t>(axis)] = range(start, start + length);
    heads.push_back(slice(qkv, std::span<const SliceIndex>(index.data(), static_cast<std::size_t>(axis) + 1)));
  }
  return concat(heads, axis);
}

AttentionResult attend(const Tensor& qkv, const PackedAttentionOptions& options, AttentionWeights weights) {
  check_defined(packed_attention_info.name, qkv, "qkv");
  const Packing packing = packing_of(qkv, options);
  const std::int64_t rows = qkv.dim(-2), queries = options.queries == 0 ? rows : options.queries;
  const Shape shape_of_y =
      qkv.shape().replaced(qkv.rank() - 2, queries).replaced(qkv.rank() - 1, packing.heads * packing.values);
  const HiddenKeys hidden = hidden_keys(options.causal, options.mask, shape_of_y, rows, options.heads, qkv.dtype());
  if (expand_fused()) {
    const Tensor q = intermediate("q", unpacked(qkv, 0, queries, packing));
    const Tensor k = intermediate("k", unpacked(qkv, 1, rows, packing));
    const Tensor v = intermediate("v", unpacked(qkv, 2, rows, packing));
    return composed_attention(q, k, v, {options.heads, options.heads, usual_scale(packing.features)}, hidden);
  }
  check_real(packed_attention_info.name, qkv, "qkv");
  const AttentionSizes n = sizes_of(qkv.shape(), queries, packing);
  const auto forward = [&]<class T>(T, const AttentionResult& result) {
    return attention_forward<T>(n, parts_of(qkv.values<T>().data(), rows, packing), hidden, result,
                                in_features(OpAccess::values<T>(result.y), queries, packing.values, packing.heads));
  };
  return recorded_attention(packed_attention_info, packed_attention_backward, packing, n, hidden, weights, shape_of_y,
                            qkv.dtype(), forward, qkv);
}

}  // namespace

AttentionResult packed_attention_with_weights(const Tensor& qkv, const PackedAttentionOptions& options) {
  return attend(qkv, options, AttentionWeights::asked_for);
}

Tensor packed_attention(const Tensor& qkv, const PackedAttentionOptions& options) {
  return attend(qkv, options, AttentionWeights::not_asked_for).y;
}

}  // namespace retrace
