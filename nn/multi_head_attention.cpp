#include <retrace/nn/multi_head_attention.h>

namespace retrace {
namespace {

void check(const Tensor& q, const Tensor& k, const Tensor& v, int heads, const Tensor& mask) {
  check_defined("multi_head_attention", q, "q");
  check_defined("multi_head_attention", k, "k");
  check_defined("multi_head_attention", v, "v");
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3)
    throw ShapeError(text("multi_head_attention: q", q.shape(), ", k", k.shape(), " and v", v.shape(),
                          " must be [batch, length, features]; reshape them"));
  if (heads < 1 || q.dim(-1) % heads != 0)
    throw ShapeError(
        text("multi_head_attention: ", heads, " heads do not divide ", q.dim(-1), " features; choose a divisor"));
  if (mask.defined() && mask.rank() != 2 && mask.rank() != 3)
    throw ShapeError(
        text("multi_head_attention: the mask ", mask.shape(), " must be [Tq, Tk] or [B, Tq, Tk]; reshape it"));
}

}  // namespace

AttentionResult multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads, const Tensor& w_q,
                                     const Tensor& w_k, const Tensor& w_v, const Tensor& w_o, const Tensor& mask) {
  check(q, k, v, heads, mask);
  // If q, k and v are one tensor, its gradient sums their terms in the reverse of this order.
  const Tensor values = matmul(v, w_v), keys = matmul(k, w_k), queries = matmul(q, w_q);
  const AttentionResult result = attention_with_weights(queries, keys, values, {.heads = heads, .mask = mask});
  const Tensor weights = heads == 1 ? unsqueeze(result.weights, 1) : result.weights;
  return {w_o.defined() ? matmul(result.y, w_o) : result.y, weights};
}

MultiHeadAttention::MultiHeadAttention(std::int64_t size, Random& random, MultiHeadAttentionOptions options)
    : query(parameter_shape("MultiHeadAttention", "query.weight", {size, size})[0], size, random,
            {.bias = options.bias}),
      key(size, size, random, {.bias = options.bias}),
      value(size, size, random, {.bias = options.bias}),
      out(size, size, random, {.bias = options.bias}),
      heads(options.heads) {
  if (heads < 1 || size % heads != 0)
    throw ShapeError(text("MultiHeadAttention: ", heads, " heads do not divide ", size, " features; choose a divisor"));
}

AttentionResult MultiHeadAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                               const Tensor& mask) const {
  const Scope scope(this, "mha");
  check(q, k, v, heads, mask);
  const Tensor values = value(v), keys = key(k), queries = query(q);
  const AttentionResult result = attention_with_weights(queries, keys, values, {.heads = heads, .mask = mask});
  return {out(result.y), heads == 1 ? unsqueeze(result.weights, 1) : result.weights};
}

Tensor MultiHeadAttention::without_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const Tensor& mask) const {
  const Scope scope(this, "mha");
  check(q, k, v, heads, mask);
  const Tensor values = value(v), keys = key(k), queries = query(q);
  return out(attention(queries, keys, values, {.heads = heads, .mask = mask}));
}

}  // namespace retrace
