// Multi-head attention (Vaswani et al., 2017).
#pragma once

#include <retrace/nn/layers.h>

namespace retrace {

/// q, k, v are projected (x W: weights [S, S] multiply from the right, no biases), attend head by head, and are put
/// together by w_o (skipped if undefined). q [B, Tq, S], k and v [B, Tk, S]; the mask is [Tq, Tk] or [B, Tq, Tk],
/// additive or i64. Returns y [B, Tq, S] and the weights [B, heads, Tq, Tk]. Throws ShapeError where heads do not
/// divide S.
AttentionResult multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads, const Tensor& w_q,
                                     const Tensor& w_k, const Tensor& w_v, const Tensor& w_o = {},
                                     const Tensor& mask = {});

struct MultiHeadAttentionOptions {
  int heads = 4;
  bool bias = false;
};
/// The same as a module: four Linears of S features.
struct MultiHeadAttention {
  Linear query, key, value, out;
  int heads;

  MultiHeadAttention(std::int64_t size, Random& random, MultiHeadAttentionOptions options = {});
  /// Cross-attention of any lengths.
  AttentionResult operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) const;
  /// y alone: the weights of long sequences are then not stored.
  Tensor without_weights(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) const;
  /// Self-attention.
  AttentionResult operator()(const Tensor& x, const Tensor& mask = {}) const { return (*this)(x, x, x, mask); }
  void visit(auto&& see) const { see("query", query), see("key", key), see("value", value), see("out", out); }
};

}  // namespace retrace
