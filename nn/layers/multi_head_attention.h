// Multi-head attention (Vaswani et al., "Attention is all you need", 2017).
#pragma once

#include <cstdint>

#include <retrace/nn/layers/layers.h>

namespace retrace {

/// y = attention(q w_q, k w_k, v w_v) w_o, with the features split among the heads. The weights [S, S] multiply from
/// the right, without biases; an undefined w_o is skipped. q [B, Tq, S], k and v [B, Tk, S]; the mask, additive or i64
/// as in AttentionOptions, is [Tq, Tk] for all, [B, Tq, Tk] for each sample, or broadcasts from four axes to [B, heads,
/// Tq, Tk]. Returns y [B, Tq, S] and the attention weights [B, heads, Tq, Tk]. Throws ShapeError if a rank differs, the
/// heads do not divide S or the mask does not broadcast.
AttentionResult multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads, const Tensor& w_q,
                                     const Tensor& w_k, const Tensor& w_v, const Tensor& w_o = {},
                                     const Tensor& mask = {});

/// Positions that attention itself takes into account: see nn/layers/positions.h.
enum class AttentionPositions { none, rotary, alibi };

/// The form of a MultiHeadAttention.
struct MultiHeadAttentionOptions {
  int heads = 4;
  bool bias = false;            // whether its Linears have biases
  std::int64_t key_size = 0;    // the features of k; 0: S
  std::int64_t value_size = 0;  // the features of v; 0: S
  double dropout = 0;           // the probability to drop an attention weight
  AttentionPositions positions = AttentionPositions::none;
  int key_heads =
      0;  // the number of heads of k and v, each for heads / key_heads heads of q in turn; 0: as many as q's
};

/// Keys and values that a MultiHeadAttention has projected. To generate step by step, hand the same one to every call:
///   KeyValueCache cache;
///   for (...) y = attention(step, {.causal = true, .cache = &cache}).y;
struct KeyValueCache {
  Tensor keys, values;  // [B, length, key_heads S / heads]; undefined before the first call
  std::int64_t length() const { return keys.defined() ? keys.dim(1) : 0; }
};

/// Which keys the queries of one call see, and what the call changes.
struct AttendOptions {
  Tensor mask = {};                // as in multi_head_attention
  bool causal = false;             // query i sees keys 0 to i + Tk - Tq only
  Tensor lengths = {};             // [B] (i64): sample b has lengths[b] keys, and no query sees the padding after them
  Random* random = nullptr;        // for dropout; null turns it off, as in evaluation
  KeyValueCache* cache = nullptr;  // the keys and values of earlier calls come first; those of this one are appended
};

/// multi_head_attention as a module, with four Linears to S features for w_q, w_k, w_v and w_o. Rotary positions turn q
/// and k, ALiBi adds its biases to the scores; a cache continues the positions. A dropped weight is 0 in y; the
/// returned weights are those before dropout. Throws as multi_head_attention does, ShapeError and IndexError as
/// padding_mask does for lengths, and ShapeError if a cache holds another batch or size; a call that throws leaves the
/// cache as it was. An additive mask that wants a gradient gets it. With fewer heads of k and v than of q, w_k and w_v
/// have key_heads S / heads columns. The constructor throws ShapeError if the heads do not divide S (for rotary
/// positions, into even sizes) or key_heads does not divide the heads, ValueError if dropout is not in [0, 1].
struct MultiHeadAttention {
  Linear query, key, value, out;
  int heads, key_heads;
  double dropout;
  AttentionPositions positions;

  MultiHeadAttention(std::int64_t size, Random& random, MultiHeadAttentionOptions options = {});
  /// Cross-attention; the lengths of q and k may differ.
  AttentionResult operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options) const;
  AttentionResult operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) const {
    return (*this)(q, k, v, AttendOptions{.mask = mask});
  }
  /// Self-attention.
  AttentionResult operator()(const Tensor& x, const AttendOptions& options) const { return (*this)(x, x, x, options); }
  AttentionResult operator()(const Tensor& x, const Tensor& mask = {}) const { return (*this)(x, x, x, mask); }
  /// y alone. The attention weights of long sequences are then not stored, unless some are dropped.
  Tensor without_weights(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options) const;
  Tensor without_weights(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) const {
    return without_weights(q, k, v, AttendOptions{.mask = mask});
  }
  /// The projected keys and values, which from_projected can read any number of times.
  KeyValueCache project(const Tensor& k, const Tensor& v) const;
  /// y of queries that see keys and values of project(). Takes no cache beside them: throws ValueError for one.
  Tensor from_projected(const Tensor& q, const KeyValueCache& memory, const AttendOptions& options = {}) const;
  void visit(auto&& see) const { see("query", query), see("key", key), see("value", value), see("out", out); }
};

}  // namespace retrace
