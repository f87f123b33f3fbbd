// attention and attention_with_weights, of q, k and v in three tensors.
#include <retrace/ops/attention/composed.h>
#include <retrace/ops/attention/recorded.h>
#include <retrace/ops/loops/masked.h>

namespace retrace {

namespace {

template <class T> T dot(Zeros zeros, const T* a, const T* b, std::int64_t length) {
  T sum = T(0);
  for (std::int64_t f = 0; f < length; ++f) sum += product(zeros, a[f], b[f]);
  return sum;
}

/// y = (or += with `add`) sum of weight(j) x_j over the rows j of x; all rows have n elements. A weight of 0 hides its
/// row.
template <class T, class Weight>
void mix(const Weight& weight, HeadRows<const T> x, std::int64_t rows, std::int64_t n, T* y, bool add) {
  if (!add) std::fill(y, y + n, T(0));
  for (std::int64_t j = 0; j < rows; ++j)
    for (std::int64_t f = 0; f < n; ++f) y[f] += strong_product(weight(j), x[j][f]);
}

}  // namespace

// s = scale q k^T + mask, w = softmax(s), y = w v, for one head. With `causal`, the last query sees every key, and
// each query sees one key less than the next one.
template <class T> void plain::head_forward(const HeadForward<T>& args) {
  const HeadSizes n = args.n;
  for (std::int64_t i = 0; i < n.queries; ++i) {
    T* w = args.weights + i * n.keys;
    const std::int64_t seen = args.causal ? std::clamp<std::int64_t>(i + 1 + n.keys - n.queries, 0, n.keys) : n.keys;
    for (std::int64_t j = 0; j < seen; ++j) {
      w[j] = args.scale * dot(Zeros::ordinary, args.q[i], args.k[j], n.features);
      if (args.mask != nullptr) w[j] = masked_sum(w[j], args.mask[i * n.keys + j]);
    }
    plain::softmax<T>({.x = w, .y = w, .rows = 1, .length = seen});
    std::fill(w + seen, w + n.keys, T(0));
    mix([=](std::int64_t j) { return w[j]; }, args.v, n.keys, n.values, args.y[i], false);
  }
}

// dw = dy v^T, ds = scale w (dw - sum dw w), dv = w^T dy, dq = ds k, dk = ds^T q, for one head
template <class T> void plain::head_backward(const HeadBackward<T>& args) {
  const HeadSizes n = args.n;
  std::vector<T> scores(static_cast<std::size_t>(n.queries * n.keys));
  T* ds = scores.data();
  for (std::int64_t i = 0; i < n.queries; ++i) {
    const T* w = args.weights + i * n.keys;
    T *dw = ds + i * n.keys, sum = T(0);
    for (std::int64_t j = 0; j < n.keys; ++j) {
      if (args.dy) dw[j] = dot(Zeros::strong, args.dy[i], args.v[j], n.values);
      if (args.dweights != nullptr) dw[j] += args.dweights[i * n.keys + j];
      sum += strong_product(dw[j], w[j]);
    }
    for (std::int64_t j = 0; j < n.keys; ++j) dw[j] = strong_product(w[j], dw[j] - sum);
    if (args.dscores != nullptr) std::copy(dw, dw + n.keys, args.dscores + i * n.keys);
    for (std::int64_t j = 0; j < n.keys; ++j) dw[j] = args.scale * dw[j];
  }
  const auto row = [n](const T* x, std::int64_t i) { return [=](std::int64_t j) { return x[i * n.keys + j]; }; };
  const auto column = [n](const T* x, std::int64_t j) { return [=](std::int64_t i) { return x[i * n.keys + j]; }; };
  for (std::int64_t j = 0; j < n.keys && args.dv && args.dy; ++j)
    mix(column(args.weights, j), args.dy, n.queries, n.values, args.dv[j], args.add_v);
  for (std::int64_t i = 0; i < n.queries && args.dq; ++i)
    mix(row(ds, i), args.k, n.keys, n.features, args.dq[i], args.add_q);
  for (std::int64_t j = 0; j < n.keys && args.dk; ++j)
    mix(column(ds, j), args.q, n.queries, n.features, args.dk[j], args.add_k);
}

RETRACE_INSTANTIATE_PLAIN(head_forward, HeadForward);
RETRACE_INSTANTIATE_PLAIN(head_backward, HeadBackward);

namespace {

AttentionSizes sizes_of(const Shape& q, const Shape& v, const AttentionHeads& heads) {
  return {.batch = q.first(q.rank() - 2).numel(),
          .heads = heads.of_queries,
          .queries = q[-2],
          .keys = v[-2],
          .features = q[-1] / heads.of_queries,
          .values = v[-1] / heads.of_keys,
          .scale = heads.scale,
          .heads_per_key = heads.of_queries / heads.of_keys};
}

/// Operand 0 (q), 1 (k) or 2 (v), of a shape [..., rows, heads columns], as the matrices of the heads of q.
template <class T> Matrices<T> heads_of(T* x, const Shape& shape, const AttentionHeads& heads, int operand) {
  const std::int64_t count = operand == 0 ? heads.of_queries : heads.of_keys;
  return in_features(x, shape[-2], shape[-1] / count, count, heads.of_queries / count);
}

using Attributes = AttentionAttributes<AttentionHeads>;

Formulas attention_formulas(const Record& r) {
  const auto& [heads, hiding] = r.attributes<Attributes>();
  const Formulas all = attention_formulas(r, sizes_of(r.in(0).shape, r.in(2).shape, heads), hiding, 3);
  return {all.forward + for_each_head(heads.of_queries), all.backward + for_each_head(heads.of_queries)};
}
AttributeList attention_attributes(const Record& r) {
  const auto& [heads, hiding] = r.attributes<Attributes>();
  AttributeList list = attention_attributes(r, heads.of_queries, hiding);
  if (heads.of_keys != heads.of_queries) list.push_back({"key_heads", heads.of_keys});
  if (heads.scale != usual_scale(r.in(0).shape[-1] / heads.of_queries)) list.push_back({"scale", heads.scale});
  return list;
}
constexpr OpInfo attention_info{
    "attention",
    "w = softmax(q k^T / sqrt(d)), y = w v, for each head",
    "dw = dy v^T, ds = w (dw - sum dw w) along axis -1, dq = ds k / sqrt(d), dk = ds^T q / sqrt(d), "
    "dv = w^T dy, for each head",
    "q, k, v, mask",
    attention_formulas,
    attention_attributes};

void attention_backward(Record& r) {
  dispatch_real(r.out(0).dtype, attention_info.name, [&]<class T>(T) {
    const auto [heads, hiding] = r.attributes<Attributes>();
    const AttentionSizes n = sizes_of(r.in(0).shape, r.in(2).shape, heads);
    const auto saved = [&, heads = heads](int k) { return heads_of(r.saved(k).values<T>(), r.in(k).shape, heads, k); };
    AttentionGradient<T> args{.in = {saved(0), saved(1), saved(2)},
                              .weights = nullptr,
                              .dy = heads_of(r.grad_out<T>(0), r.out(0).shape, heads, 0),
                              .dweights = nullptr,
                              .out = {},
                              .add_v = false,
                              .add_q = false,
                              .add_k = false};
    const auto slot_of = [&, heads = heads](int i, Matrices<T>& out, bool& add) {
      if (!r.wants(i)) return;
      const GradientSlot<T> slot = attention_slot<T>(r, i);
      out = heads_of(slot.values, r.in(i).shape, heads, i);
      add = slot.add;
    };
    if (args.dy.data != nullptr) slot_of(2, args.out.v, args.add_v);
    slot_of(0, args.out.q, args.add_q);
    slot_of(1, args.out.k, args.add_k);
    attention_backward(r, n, args, hiding, 3);
  });
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionHeads& heads) {
  const auto operands = [&] {
    return text("attention: ", describe_operand("q", q), ", ", describe_operand("k", k), " and ",
                describe_operand("v", v));
  };
  if (q.rank() < 2 || q.rank() >= max_rank || k.rank() != q.rank() || v.rank() != q.rank())
    throw ShapeError(text(operands(), ": ranks must be equal, from 2 to 7, [..., length, features]; reshape them"));
  if (k.dim(-2) != v.dim(-2))
    throw ShapeError(
        text(operands(), ": k and v have ", k.dim(-2), " and ", v.dim(-2), " rows; give one value per key"));
  check_real(attention_info.name, q, "q");
  check_dtypes(attention_info.name, q, k, "q", "k");
  check_dtypes(attention_info.name, q, v, "q", "v");
  check_dtypes(attention_info.name, k, v, "k", "v");
  const std::int64_t count = heads.of_queries, of_keys = heads.of_keys;
  if (of_keys == count && q.dim(-1) != k.dim(-1))
    throw ShapeError(
        text(operands(), ": q and k have ", q.dim(-1), " and ", k.dim(-1), " features; they must be equal"));
  if (count < 1 || q.dim(-1) % count != 0 || (of_keys == count && v.dim(-1) % count != 0))
    throw ShapeError(text(operands(), ": ", count, " heads do not divide the features; choose a divisor"));
  if (of_keys < 1 || count % of_keys != 0)
    throw ShapeError(text(operands(), ": ", of_keys, " heads of k and v do not divide ", count,
                          " heads of q, each for as many; choose a divisor"));
  if (k.dim(-1) % of_keys != 0 || v.dim(-1) % of_keys != 0 || k.dim(-1) / of_keys != q.dim(-1) / count)
    throw ShapeError(text(operands(), ": ", of_keys, " heads of k of ", q.dim(-1) / count, " features, as in each of ",
                          count, " heads of q, are ", of_keys * (q.dim(-1) / count),
                          " columns of k, and must divide those of v"));
  if (!std::isfinite(heads.scale))
    throw ValueError(text("attention: scale is ", heads.scale, "; the factor of q k^T must be finite"));
}

/// The heads and the factor that the options name, for q.
AttentionHeads heads_in(const AttentionOptions& options, const Tensor& q) {
  const std::int64_t heads = options.heads, of_keys = options.key_heads == 0 ? heads : options.key_heads;
  const bool has_features = heads > 0 && q.rank() > 0;
  return {heads, of_keys, options.scale.value_or(has_features ? usual_scale(q.dim(-1) / heads) : 1)};
}

AttentionResult attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                       AttentionWeights weights) {
  check_defined(attention_info.name, {{&q, "q"}, {&k, "k"}, {&v, "v"}});
  const AttentionHeads heads = heads_in(options, q);
  check(q, k, v, heads);
  const bool has_dual_mask = options.mask.defined() && options.mask.dtype() == dual && q.dtype() != dual;
  if (q.dtype() != k.dtype() || q.dtype() != v.dtype() || has_dual_mask) {  // real numbers beside dual ones
    if (options.mask.defined())                                             // before a conversion is recorded
      check_attention_mask("attention", options.mask, attention_scores_shape(q.shape(), k.dim(-2), options.heads));
    const auto as_dual = [](const Tensor& x) { return to(x, dual); };
    const Tensor dual_q = as_dual(q), dual_k = as_dual(k), dual_v = as_dual(v);
    return attend(dual_q, dual_k, dual_v, options, weights);
  }
  const HiddenKeys hidden =
      hidden_keys(options.causal, options.mask, q.shape(), k.dim(-2), options.heads, q.dtype(), options.corner);
  if (expand_fused()) return composed_attention(q, k, v, heads, hidden);
  const AttentionSizes n = sizes_of(q.shape(), v.shape(), heads);
  const auto forward = [&]<class T>(T, const AttentionResult& result) {
    const auto read = [&](const Tensor& x, int i) { return heads_of(x.values<T>().data(), x.shape(), heads, i); };
    return attention_forward<T>(n, {read(q, 0), read(k, 1), read(v, 2)}, hidden, result,
                                heads_of(OpAccess::values<T>(result.y), result.y.shape(), heads, 0));
  };
  return recorded_attention(attention_info, attention_backward, heads, n, hidden, weights,
                            q.shape().replaced(q.rank() - 1, n.heads * n.values), q.dtype(), forward, q, k, v);
}

}  // namespace

AttentionResult attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionOptions& options) {
  return attend(q, k, v, options, AttentionWeights::asked_for);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  return attend(q, k, v, options, AttentionWeights::not_asked_for).y;
}

}  // namespace retrace
