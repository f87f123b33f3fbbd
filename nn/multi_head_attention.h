// Multi-head attention (Vaswani et al., "Attention is all you need", 2017).
#pragma once

#include <retrace/nn/layers.h>

namespace retrace {

/// y = attention(q w_q, k w_k, v w_v) w_o, with the features split among the heads. The weights [S, S] multiply from
/// the right, without biases; an undefined w_o is skipped. q [B, Tq, S], k and v [B, Tk, S]; the mask is [Tq, Tk] or
/// [B, Tq, Tk], additive or i64 as in AttentionOptions. Returns y [B, Tq, S] and the attention weights [B, heads, Tq,
/// Tk]. Throws ShapeError if a rank is another one or the heads do not divide S.
AttentionResult multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads, const Tensor& w_q,
                                     const Tensor& w_k, const Tensor& w_v, const Tensor& w_o = {},
                                     const Tensor& mask = {});

/// The heads of a MultiHeadAttention, and whether its Linears have biases.
struct MultiHeadAttentionOptions {
  int heads = 4;
  bool bias = false;
};
/// multi_head_attention as a module, with four Linears of S features for w_q, w_k, w_v and w_o. The constructor throws
/// ShapeError if the heads do not divide S.
struct MultiHeadAttention {
  Linear query, key, value, out;
  int heads;

  MultiHeadAttention(std::int64_t size, Random& random, MultiHeadAttentionOptions options = {});
  /// Cross-attention; the lengths of q and k may differ.
  AttentionResult operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) const;
  /// y alone. The attention weights of long sequences are then not stored.
  Tensor without_weights(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) const;
  /// Self-attention.
  AttentionResult operator()(const Tensor& x, const Tensor& mask = {}) const { return (*this)(x, x, x, mask); }
  void visit(auto&& see) const { see("query", query), see("key", key), see("value", value), see("out", out); }
};

}  // namespace retrace
