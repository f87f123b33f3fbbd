#include <retrace/core/tape/identity.h>
#include <retrace/models/study/expression/op_binding.h>

#include <algorithm>
#include <iterator>

namespace retrace::expressions {
namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);
using Reduce = Tensor (*)(const Tensor&, const Axes&, ReduceOptions);

template <Reduce function> Tensor reduced(const Tensor& x, const Axes& axis, bool keepdims) {
  return function(x, axis, {.keepdims = keepdims});
}

using Corrected = Tensor (*)(const Tensor&, const Axes&, ReduceOptions, double);
template <Corrected function> Tensor corrected(const Tensor& x, const Axes& axis, bool keepdims, double correction) {
  return function(x, axis, {.keepdims = keepdims}, correction);
}

Tensor power(const Tensor& x, const NumberOrTensor& exponent) {
  if (const double* number = std::get_if<double>(&exponent)) return pow(x, *number);
  return pow(x, std::get<Tensor>(exponent));
}

Tensor transposed(const Tensor& x, const std::vector<int>& permutation) {
  return permutation.empty() ? transpose(x) : transpose(x, permutation);
}

AttentionOptions attention_options(int heads, bool causal, const Tensor& mask) {
  return {.heads = heads, .causal = causal, .mask = mask};
}

PackedAttentionOptions packed_options(std::int64_t key_size, int heads, PackedLayout layout, std::int64_t queries,
                                      bool causal, const Tensor& mask) {
  return {.heads = heads, .key_size = key_size, .layout = layout, .queries = queries, .causal = causal, .mask = mask};
}

/// The same elements are dropped whenever the expression is computed.
Tensor dropped(const Tensor& x, double probability, std::int64_t seed) {
  Random random(static_cast<std::uint64_t>(seed));
  return dropout(x, probability, &random);
}

void append(std::vector<ExpressionOp>& table, std::vector<ExpressionOp> ops) {
  std::ranges::move(ops, std::back_inserter(table));
}

// Each group has the ops of a section of ops.h, in its order.

std::vector<ExpressionOp> arithmetic() {
  return {op("identity(x)", Unary(identity)),
          op("add(a, b)", Binary(add)),
          op("sub(a, b)", Binary(sub)),
          op("mul(a, b)", Binary(mul)),
          op("div(a, b)", Binary(div)),
          op("neg(x)", Unary(neg)),
          op("scale(x, factor)", scale),
          op("shift(x, offset)", shift),
          op("maximum(a, b)", Binary(maximum)),
          op("minimum(a, b)", Binary(minimum)),
          op("pow(x, exponent)", power),
          op("exp(x)", Unary(exp)),
          op("log(x)", Unary(log)),
          op("sqrt(x)", Unary(sqrt)),
          op("square(x)", Unary(square)),
          op("abs(x)", Unary(abs)),
          op("reciprocal(x)", Unary(reciprocal)),
          op("sin(x)", Unary(sin)),
          op("cos(x)", Unary(cos)),
          op("erf(x)", Unary(erf)),
          op("log1p(x)", Unary(log1p)),
          op("expm1(x)", Unary(expm1)),
          op("sign(x)", Unary(sign)),
          op("floor(x)", Unary(floor)),
          op("ceil(x)", Unary(ceil)),
          op("round(x)", Unary(round)),
          op("clip(x, low, high)", clip),
          op("where(condition, a, b)",
             [](const Ids& condition, const Tensor& a, const Tensor& b) { return where(condition.tensor, a, b); }),
          op("masked_fill(x, mask, value)",
             [](const Tensor& x, const Ids& mask, double value) { return masked_fill(x, mask.tensor, value); }),
          op("to(x, dtype)", [](const Tensor& x, Dtype dtype) { return x.to(dtype); })};
}

template <Tensor (*of_tensor)(const Tensor&, const Tensor&), Tensor (*of_number)(const Tensor&, Scalar)>
Tensor compared(const Tensor& a, const NumberOrTensor& b) {
  if (const double* number = std::get_if<double>(&b)) return of_number(a, *number);
  return of_tensor(a, std::get<Tensor>(b));
}
template <Tensor (*function)(const Tensor&, const Tensor&)> Tensor combined(const Ids& a, const Ids& b) {
  return function(a.tensor, b.tensor);
}

std::vector<ExpressionOp> comparisons() {
  return {op("equal(a, b)", compared<equal, equal>),
          op("not_equal(a, b)", compared<not_equal, not_equal>),
          op("less(a, b)", compared<less, less>),
          op("less_equal(a, b)", compared<less_equal, less_equal>),
          op("greater(a, b)", compared<greater, greater>),
          op("greater_equal(a, b)", compared<greater_equal, greater_equal>),
          op("logical_and(a, b)", combined<logical_and>),
          op("logical_or(a, b)", combined<logical_or>),
          op("logical_xor(a, b)", combined<logical_xor>),
          op("logical_not(x)", [](const Ids& x) { return logical_not(x.tensor); })};
}

std::vector<ExpressionOp> activations() {
  return {op("sigmoid(x)", Unary(sigmoid)),
          op("tanh(x)", Unary(tanh)),
          op("relu(x)", Unary(relu)),
          op("leaky_relu(x, slope=0.01)", leaky_relu),
          op("elu(x, alpha=1)", elu),
          op("selu(x)", Unary(selu)),
          op("gelu(x)", Unary(gelu)),
          op("gelu_tanh(x)", Unary(gelu_tanh)),
          op("silu(x)", Unary(silu)),
          op("swiglu(x)", Unary(swiglu)),
          op("mish(x)", Unary(mish)),
          op("softplus(x)", Unary(softplus)),
          op("log_sigmoid(x)", Unary(log_sigmoid))};
}

std::vector<ExpressionOp> products() {
  return {op("matmul(a, b, transpose_a=false, transpose_b=false)",
             [](const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
               return matmul(a, b, {.transpose_a = transpose_a, .transpose_b = transpose_b});
             }),
          op("linear(x, weight, bias=none, activation=none)",
             [](const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
               return linear(x, weight, bias, activation);
             }),
          op("outer(a, b)", outer),
          op("einsum(equation, operands)",
             [](const std::string& equation, const Tensors& operands) { return einsum(equation, operands); })};
}

std::vector<ExpressionOp> reductions() {
  return {op("sum(x, axis=none, keepdims=false)", reduced<sum>),
          op("mean(x, axis=none, keepdims=false)", reduced<mean>),
          op("max(x, axis=none, keepdims=false)", reduced<max>),
          op("min(x, axis=none, keepdims=false)", reduced<min>),
          op("var(x, axis=none, keepdims=false, correction=0)", corrected<var>),
          op("std(x, axis=none, keepdims=false, correction=0)", corrected<std>),
          op("standard_deviation(x, axis=none, keepdims=false, correction=0)", corrected<standard_deviation>),
          op("prod(x, axis=none, keepdims=false)", reduced<prod>),
          op("logsumexp(x, axis=none, keepdims=false)", reduced<logsumexp>),
          op("norm(x, axis=none, keepdims=false)", reduced<norm>),
          op("cumsum(x, axis=-1)", cumsum),
          op("cumprod(x, axis=-1)", cumprod),
          op("argmax(x, axis=-1)", argmax),
          op("argmin(x, axis=-1)", argmin)};
}

std::vector<ExpressionOp> normalisation() {
  return {op("softmax(x, axis=-1, mask=none)", softmax), op("log_softmax(x, axis=-1, mask=none)", log_softmax),
          op("layer_norm(x, gamma=none, beta=none, axes=1, eps=1e-5)",
             [](const Tensor& x, const Tensor& gamma, const Tensor& beta, int axes, double eps) {
               return layer_norm(x, gamma, beta, {.axes = axes, .eps = eps});
             }),
          op("residual_layer_norm(x, residual, gamma=none, beta=none, axes=1, eps=1e-5)",
             [](const Tensor& x, const Tensor& residual, const Tensor& gamma, const Tensor& beta, int axes,
                double eps) { return residual_layer_norm(x, residual, gamma, beta, {.axes = axes, .eps = eps}); }),
          op("rms_norm(x, gamma=none, eps=1e-6)", rms_norm)};
}

std::vector<ExpressionOp> shapes() {
  return {op("reshape(x, shape)",
             [](const Tensor& x, const std::vector<std::int64_t>& extents) { return reshape(x, extents); }),
          op("transpose(x, permutation=none)", transposed),
          op("slice(x, index)", [](const Tensor& x, const std::vector<SliceIndex>& index) { return slice(x, index); }),
          op("concat(parts, axis=0)", concat),
          op("stack(parts, axis=0)", stack),
          op("split(x, sizes, axis=0)",
             [](const Tensor& x, const std::vector<std::int64_t>& sizes, int axis) { return split(x, sizes, axis); }),
          op("squeeze(x, axis)", squeeze),
          op("unsqueeze(x, axis)", unsqueeze),
          op("broadcast_to(x, shape)", broadcast_to),
          op("flip(x, axis)", flip),
          op("pad(x, padding)", [](const Tensor& x, const std::vector<Padding>& padding) { return pad(x, padding); }),
          op("repeat(x, counts)",
             [](const Tensor& x, const std::vector<std::int64_t>& counts) { return repeat(x, counts); }),
          op("roll(x, shift, axis)", roll),
          op("tril(x, diagonal=0)", tril),
          op("triu(x, diagonal=0)", triu),
          op("diagonal(x, offset=0)", diagonal),
          op("diag_embed(x, offset=0)", diag_embed),
          op("diag(x, offset=0)", diag)};
}

std::vector<ExpressionOp> indexing() {
  return {
      op("take(x, ids, axis=0)", [](const Tensor& x, const Ids& ids, int axis) { return take(x, ids.tensor, axis); }),
      op("gather(x, ids, axis=-1)",
         [](const Tensor& x, const Ids& ids, int axis) { return gather(x, ids.tensor, axis); }),
      op("embedding(table, ids)", [](const Tensor& table, const Ids& ids) { return embedding(table, ids.tensor); }),
      op("scatter_add(x, ids, updates)",
         [](const Tensor& x, const Ids& ids, const Tensor& updates) { return scatter_add(x, ids.tensor, updates); })};
}

std::vector<ExpressionOp> sorting() {
  return {op("sort(x, axis=-1, descending=false)",
             [](const Tensor& x, int axis, bool descending) { return sort(x, axis, {.descending = descending}); }),
          op("argsort(x, axis=-1, descending=false)",
             [](const Tensor& x, int axis, bool descending) { return argsort(x, axis, {.descending = descending}); }),
          op("topk(x, k, axis=-1, largest=true)", [](const Tensor& x, std::int64_t k, int axis,
                                                     bool largest) { return topk(x, k, axis, {.largest = largest}); }),
          op("nonzero(x)", nonzero),
          op("masked_select(x, mask)", [](const Tensor& x, const Ids& mask) { return masked_select(x, mask.tensor); })};
}

std::vector<ExpressionOp> losses() {
  return {op("cross_entropy(logits, targets, reduction=mean, ignore_index=none, label_smoothing=0, "
             "class_weights=none)",
             [](const Tensor& logits, const Ids& targets, Reduction reduction, std::optional<std::int64_t> ignored,
                double smoothing, const Tensor& weights) {
               return cross_entropy(logits, targets.tensor, {reduction, ignored, smoothing, weights});
             }),
          op("nll(log_probabilities, targets, reduction=mean, ignore_index=none, label_smoothing=0, "
             "class_weights=none)",
             [](const Tensor& logp, const Ids& targets, Reduction reduction, std::optional<std::int64_t> ignored,
                double smoothing, const Tensor& weights) {
               return nll(logp, targets.tensor, {reduction, ignored, smoothing, weights});
             }),
          op("mse(x, target, reduction=mean)", mse),
          op("bce_with_logits(logits, target, reduction=mean)", bce_with_logits),
          op("smooth_l1(x, target, beta=1, reduction=mean)", smooth_l1),
          op("huber(x, target, delta=1, reduction=mean)", huber),
          op("kl_divergence(log_probabilities, target, reduction=mean, log_target=false)",
             [](const Tensor& logp, const Tensor& target, Reduction reduction, bool log_target) {
               return kl_divergence(logp, target, {.reduction = reduction, .log_target = log_target});
             }),
          op("dropout(x, probability, seed=0)", dropped)};
}

std::vector<ExpressionOp> of_attention() {
  return {
      op("attention(q, k, v, heads=1, causal=false, mask=none)",
         [](const Tensor& q, const Tensor& k, const Tensor& v, int heads, bool causal, const Tensor& mask) {
           return attention(q, k, v, attention_options(heads, causal, mask));
         }),
      op("attention_with_weights(q, k, v, heads=1, causal=false, mask=none)",
         [](const Tensor& q, const Tensor& k, const Tensor& v, int heads, bool causal, const Tensor& mask) {
           return attention_with_weights(q, k, v, attention_options(heads, causal, mask));
         }),
      op("split_heads(x, heads)", split_heads),
      op("combine_heads(x)", combine_heads),
      op("causal_mask(queries, keys=none, dtype=none)",
         [](std::int64_t queries, std::optional<std::int64_t> keys, DtypeOfConstants of) {
           return causal_mask(queries, keys.value_or(queries), of.dtype);
         }),
      op("padding_mask(lengths, time, dtype=none)",
         [](const Ids& lengths, std::int64_t time, DtypeOfConstants of) {
           return padding_mask(lengths.tensor, time, of.dtype);
         }),
      op("rotary(x, heads=1, first=0, base=10000, pairs=adjacent)",
         [](const Tensor& x, int heads, std::int64_t first, double base, RotaryPairs pairs) {
           return rotary(x, {.heads = heads, .first = first, .base = base, .pairs = pairs});
         }),
      op("packed_attention(qkv, key_size, heads=1, layout=by_kind, queries=0, causal=false, mask=none)",
         [](const Tensor& qkv, std::int64_t key_size, int heads, PackedLayout layout, std::int64_t queries, bool causal,
            const Tensor& mask) {
           return packed_attention(qkv, packed_options(key_size, heads, layout, queries, causal, mask));
         }),
      op("packed_attention_with_weights(qkv, key_size, heads=1, layout=by_kind, queries=0, causal=false, mask=none)",
         [](const Tensor& qkv, std::int64_t key_size, int heads, PackedLayout layout, std::int64_t queries, bool causal,
            const Tensor& mask) {
           return packed_attention_with_weights(qkv, packed_options(key_size, heads, layout, queries, causal, mask));
         })};
}

std::vector<ExpressionOp> recurrent() {
  return {op("lstm_sequence(projected, h, c, weight, lengths=none)",
             [](const Tensor& projected, const Tensor& h, const Tensor& c, const Tensor& weight, const Ids& lengths) {
               return lstm_sequence(projected, h, c, weight, lengths.tensor);
             }),
          op("lstm_step(projected, h, c, weight)", lstm_step),
          op("gru_sequence(projected, h, weight, bias, lengths=none)",
             [](const Tensor& projected, const Tensor& h, const Tensor& weight, const Tensor& bias,
                const Ids& lengths) { return gru_sequence(projected, h, weight, bias, lengths.tensor); }),
          op("gru_step(projected, h, weight, bias)", gru_step),
          op("rnn_sequence(projected, h, weight, activation=tanh, lengths=none)",
             [](const Tensor& projected, const Tensor& h, const Tensor& weight, Activation activation,
                const Ids& lengths) { return rnn_sequence(projected, h, weight, activation, lengths.tensor); }),
          op("rnn_step(projected, h, weight, activation=tanh)", rnn_step),
          op("gated_memory(memory, candidate, gates_of_memory, gates_of_input, input_bias=none, forget_bias=none, "
             "coupled=false)",
             [](const Tensor& memory, const Tensor& candidate, const Tensor& gates_of_memory,
                const Tensor& gates_of_input, const Tensor& input_bias, const Tensor& forget_bias, bool coupled) {
               return gated_memory(memory, candidate, gates_of_memory, gates_of_input,
                                   {.input_bias = input_bias, .forget_bias = forget_bias, .coupled = coupled});
             })};
}

const std::vector<ExpressionOp>& all_ops() {
  static const std::vector<ExpressionOp> ops = [] {
    std::vector<ExpressionOp> table;
    for (const auto group : {arithmetic, comparisons, activations, products, reductions, normalisation, shapes,
                             indexing, sorting, losses, of_attention, recurrent})
      append(table, group());
    return table;
  }();
  return ops;
}

}  // namespace

const ExpressionOp* find_op(std::string_view name) {
  const auto found = std::ranges::find(all_ops(), name, &ExpressionOp::name);
  return found == all_ops().end() ? nullptr : &*found;
}

std::span<const std::string_view> op_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> result;
    for (const ExpressionOp& one : all_ops()) result.push_back(one.name);
    return result;
  }();
  return names;
}

}  // namespace retrace::expressions
