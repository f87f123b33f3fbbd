#include <retrace/nn/layers/multi_head_attention.h>

#include <retrace/nn/layers/positions.h>
#include <retrace/ops/attention/mask.h>
#include <retrace/ops/attention/shared_heads.h>
#include <retrace/ops/loops/padding.h>

namespace retrace {
namespace {

void check_heads_and_ranks(const Tensor& q, const Tensor& k, const Tensor& v, int heads) {
  check_defined("multi_head_attention", q, "q");
  check_defined("multi_head_attention", k, "k");
  check_defined("multi_head_attention", v, "v");
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3)
    throw ShapeError(text("multi_head_attention: q", q.shape(), ", k", k.shape(), " and v", v.shape(),
                          " must be [batch, length, features]; reshape them"));
  if (heads < 1 || q.dim(-1) % heads != 0)
    throw ShapeError(
        text("multi_head_attention: ", heads, " heads do not divide ", q.dim(-1), " features; choose a divisor"));
}

/// A mask for each sample, [B, Tq, Tk], as [B, 1, Tq, Tk].
Tensor with_axis_of_heads(const Tensor& mask) { return mask.defined() && mask.rank() == 3 ? unsqueeze(mask, 1) : mask; }

}  // namespace

AttentionResult multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads, const Tensor& w_q,
                                     const Tensor& w_k, const Tensor& w_v, const Tensor& w_o, const Tensor& mask) {
  check_heads_and_ranks(q, k, v, heads);
  const MatmulOptions form{.zeros = mask.defined() ? Zeros::strong : Zeros::ordinary};
  // If q, k and v are one tensor, its gradient sums their terms in the reverse of this order.
  const Tensor values = intermediate("v", matmul(v, w_v, form)), keys = intermediate("k", matmul(k, w_k, form));
  const Tensor queries = intermediate("q", matmul(q, w_q, form));
  const AttentionResult result =
      attention_with_weights(queries, keys, values, {.heads = heads, .mask = with_axis_of_heads(mask)});
  const Tensor weights = heads == 1 ? unsqueeze(result.weights, 1) : result.weights;
  return {w_o.defined() ? matmul(result.y, w_o, form) : result.y, weights};
}

namespace {

/// The columns of k and v, which have fewer heads than q if the options say so.
std::int64_t key_columns(std::int64_t size, const MultiHeadAttentionOptions& options) {
  if (options.key_heads == 0) return size;
  if (options.heads < 1 || options.key_heads < 1 || options.heads % options.key_heads != 0)
    throw ShapeError(text("MultiHeadAttention: ", options.key_heads, " heads of k and v do not divide ", options.heads,
                          " heads of q, each for as many; choose a divisor"));
  return size / options.heads * options.key_heads;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(std::int64_t size, Random& random, MultiHeadAttentionOptions options)
    : query(parameter_shape("MultiHeadAttention", "query.weight", {size, size})[0], size, random,
            {.bias = options.bias}),
      key(options.key_size == 0 ? size : options.key_size, key_columns(size, options), random, {.bias = options.bias}),
      value(options.value_size == 0 ? size : options.value_size, key_columns(size, options), random,
            {.bias = options.bias}),
      out(size, size, random, {.bias = options.bias}),
      heads(options.heads),
      key_heads(options.key_heads == 0 ? options.heads : options.key_heads),
      dropout(options.dropout),
      positions(options.positions) {
  if (heads < 1 || size % heads != 0)
    throw ShapeError(text("MultiHeadAttention: ", heads, " heads do not divide ", size, " features; choose a divisor"));
  if (positions == AttentionPositions::rotary && size / heads % 2 != 0)
    throw ShapeError(text("MultiHeadAttention: rotary positions turn pairs of features, and a head has ", size / heads,
                          "; choose heads of an even size"));
  check_probability("MultiHeadAttention", dropout);
}

namespace {

// Constants beside dual numbers stay f64.
Dtype dtype_of_mask(const Tensor& scores_of) { return scores_of.dtype() == f32 ? f32 : f64; }

// Keys that are hidden from the queries reach no weight.
Zeros zeros_of(const AttendOptions& options) {
  return options.mask.defined() || options.lengths.defined() || options.causal ? Zeros::strong : Zeros::ordinary;
}
Tensor projected(const Linear& layer, const Tensor& x, Zeros zeros) { return layer(x, Activation::none, zeros); }

// The options of attention: everything that hides keys or adds to the scores, in one mask.
AttentionOptions masked(const MultiHeadAttention& module, const AttendOptions& options, const Tensor& q,
                        std::int64_t keys) {
  const Dtype dtype = dtype_of_mask(q);
  Tensor mask = with_axis_of_heads(options.mask);
  const auto add_to_mask = [&](const Tensor& more) { mask = mask.defined() ? as_additive(mask, dtype) + more : more; };
  if (mask.defined())
    check_attention_mask("MultiHeadAttention", mask, attention_scores_shape(q.shape(), keys, module.heads));
  if (options.lengths.defined()) {
    if (options.lengths.rank() != 1 || options.lengths.dim(0) != q.dim(0))
      throw ShapeError(text("MultiHeadAttention: lengths", options.lengths.shape(), " must be [", q.dim(0),
                            "], one for each sample of q", q.shape()));
    add_to_mask(padding_mask(options.lengths, keys, dtype));
  }
  if (module.positions == AttentionPositions::alibi) add_to_mask(alibi_bias(module.heads, q.dim(1), keys, dtype));
  return {.heads = module.heads, .causal = options.causal, .mask = mask, .key_heads = module.key_heads};
}

Tensor rotated(const MultiHeadAttention& module, const Tensor& x, int heads, std::int64_t first) {
  if (module.positions != AttentionPositions::rotary) return x;
  return rotary(x, {.heads = heads, .first = first});
}

void check_cache(const KeyValueCache& cache, const Tensor& keys) {
  if (cache.length() == 0) return;
  const Shape expected{keys.dim(0), cache.length(), keys.dim(2)};
  if (cache.keys.shape() != expected || cache.values.shape() != expected)
    throw ShapeError(text("MultiHeadAttention: a cache with keys", cache.keys.shape(), " and values",
                          cache.values.shape(), " cannot take keys", keys.shape(),
                          "; begin each batch with an empty cache"));
}

// The keys and values of this call after those of earlier ones.
KeyValueCache appended(const KeyValueCache* cache, const Tensor& keys, const Tensor& values) {
  if (cache == nullptr || cache->length() == 0) return {keys, values};
  check_cache(*cache, keys);
  return {concat({cache->keys, keys}, 1), concat({cache->values, values}, 1)};
}

// y before the last Linear, and the weights if they are wanted; of one head, without an axis of heads.
AttentionResult attend(const MultiHeadAttention& module, const Tensor& q, const KeyValueCache& seen,
                       const AttendOptions& options, bool weights_wanted) {
  const AttentionOptions fused = masked(module, options, q, seen.length());
  const bool drops = module.dropout > 0 && options.random != nullptr;
  if (!drops && !weights_wanted) return {attention(q, seen.keys, seen.values, fused), {}};
  AttentionResult result = attention_with_weights(q, seen.keys, seen.values, fused);
  if (drops) {
    const Tensor weights = module.heads == 1 ? unsqueeze(result.weights, 1) : result.weights;
    const Tensor dropped = dropout(weights, module.dropout, options.random);
    result.y = combine_heads(
        matmul(dropped, shared_heads(seen.values, module.key_heads, module.heads), {.zeros = zeros_of(options)}));
  }
  return result;
}

AttentionResult run(const MultiHeadAttention& module, const Tensor& q, const Tensor& k, const Tensor& v,
                    const AttendOptions& options, bool weights_wanted) {
  const Scope scope(&module, "mha");
  check_heads_and_ranks(q, k, v, module.heads);
  const std::int64_t before = options.cache == nullptr ? 0 : options.cache->length();
  const Zeros zeros = zeros_of(options);
  const Tensor inside_k = with_harmless_padding(k, options.lengths, before);
  const Tensor inside_v = &v == &k ? inside_k : with_harmless_padding(v, options.lengths, before);
  const Tensor& own_q = &q == &k ? inside_k : q;
  const Tensor values = intermediate("v", projected(module.value, inside_v, zeros));
  const Tensor keys =
      intermediate("k", rotated(module, projected(module.key, inside_k, zeros), module.key_heads, before));
  const Tensor queries = intermediate(
      "q", rotated(module, projected(module.query, own_q, zeros), module.heads, before + k.dim(1) - q.dim(1)));
  const KeyValueCache seen = appended(options.cache, keys, values);
  AttentionResult result = attend(module, queries, seen, options, weights_wanted);
  result.y = projected(module.out, result.y, zeros);
  if (weights_wanted && module.heads == 1) result.weights = unsqueeze(result.weights, 1);
  if (options.cache != nullptr) *options.cache = seen;
  return result;
}

}  // namespace

AttentionResult MultiHeadAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                               const AttendOptions& options) const {
  return run(*this, q, k, v, options, true);
}

Tensor MultiHeadAttention::without_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const AttendOptions& options) const {
  return run(*this, q, k, v, options, false).y;
}

KeyValueCache MultiHeadAttention::project(const Tensor& k, const Tensor& v) const {
  const Scope scope(this, "mha");
  check_heads_and_ranks(k, k, v, 1);
  const Tensor values = projected(value, v, Zeros::strong);
  return {rotated(*this, projected(key, k, Zeros::strong), key_heads, 0), values};
}

Tensor MultiHeadAttention::from_projected(const Tensor& q, const KeyValueCache& memory,
                                          const AttendOptions& options) const {
  const Scope scope(this, "mha");
  if (options.cache != nullptr)
    throw ValueError("MultiHeadAttention: from_projected reads its keys and appends none; give it no cache");
  check_heads_and_ranks(q, memory.keys, memory.values, heads);
  const Zeros zeros = zeros_of(options);
  const Tensor queries = rotated(*this, projected(query, q, zeros), heads, memory.length() - q.dim(1));
  return projected(out, attend(*this, queries, memory, options, false).y, zeros);
}

}  // namespace retrace
