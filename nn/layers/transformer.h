// The Transformer's layers and stacks of them, with the names of PyTorch's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/multi_head_attention.h>

namespace retrace {

/// The function of a layer between linear1 and linear2. swiglu: silu(a) b of the two halves a, b of twice as many
/// features (Shazeer, "GLU variants improve transformer", 2020).
enum class FeedForward { relu, gelu, swiglu };

/// The form of a layer.
struct TransformerLayerOptions {
  int heads = 8;
  std::int64_t feed_forward = 0;  // features between linear1 and linear2; 0: 4 times the layer's
  FeedForward activation = FeedForward::relu;
  double dropout = 0.1;     // of attention weights, activations and the outputs of both sublayers
  bool norm_first = false;  // normalise what a sublayer reads, and not the sum that it leaves
  double eps = 1e-5;        // of the norms
  AttentionPositions positions = AttentionPositions::none;  // of self-attention
  bool bias = true;  // whether attention, linear1, linear2 and the norms have biases
};

/// x [B, T, S] -> [B, T, S] (Vaswani et al., "Attention is all you need", 2017), with attention a and feed-forward
/// f(x) = linear2(g(linear1(x))):
///   x' = norm1(x + a(x)), y = norm2(x' + f(x')), or x' = x + a(norm1(x)), y = x' + f(norm2(x')) with norm_first.
/// With causal attention and a cache it generates step by step. Throws as MultiHeadAttention does; a call that throws
/// leaves the cache as it was. The constructor also throws ValueError if dropout is not in [0, 1].
struct TransformerEncoderLayer {
  TransformerLayerOptions options;
  MultiHeadAttention self_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2;

  TransformerEncoderLayer(std::int64_t size, Random& random, const TransformerLayerOptions& form = {});
  Tensor operator()(const Tensor& x, const AttendOptions& attend = {}) const;
  void visit(auto&& see) const {
    see("self_attn", self_attn), see("linear1", linear1), see("linear2", linear2);
    see("norm1", norm1), see("norm2", norm2);
  }
};

/// The state of a TransformerDecoderLayer between the steps of a generation.
struct TransformerDecoderCache {
  KeyValueCache self;   // of the steps so far
  KeyValueCache cross;  // of the memory, projected once
};

/// Which keys a call of a decoder sees, and what it changes. The masks are those of AttendOptions.
struct DecodeOptions {
  Tensor mask = {};
  bool causal = true;   // unlike PyTorch's, which needs a mask
  Tensor lengths = {};  // [B] (i64): of the steps in the cache and x together, as in AttendOptions
  Tensor memory_mask = {};
  Tensor memory_lengths = {};
  Random* random = nullptr;  // for dropout; null turns it off, as in evaluation
};

/// A TransformerEncoderLayer that reads a memory [B, M, S] between its self-attention a and its feed-forward f, by
/// cross-attention c:
///   x' = norm1(x + a(x)), x'' = norm2(x' + c(x', memory)), y = norm3(x'' + f(x'')), or with norm_first
///   x' = x + a(norm1(x)), x'' = x' + c(norm2(x'), memory), y = x'' + f(norm3(x'')).
/// A cache continues the steps of earlier calls, for the same memory: y of one step at a time is that of all at once.
/// Throws as TransformerEncoderLayer does.
struct TransformerDecoderLayer {
  TransformerLayerOptions options;
  MultiHeadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2, norm3;

  TransformerDecoderLayer(std::int64_t size, Random& random, const TransformerLayerOptions& form = {});
  Tensor operator()(const Tensor& x, const Tensor& memory, const DecodeOptions& decode = {},
                    TransformerDecoderCache* cache = nullptr) const;
  void visit(auto&& see) const {
    see("self_attn", self_attn), see("multihead_attn", multihead_attn), see("linear1", linear1);
    see("linear2", linear2), see("norm1", norm1), see("norm2", norm2), see("norm3", norm3);
  }
};

/// The layers of a stack.
struct TransformerOptions {
  int layers = 6;
  TransformerLayerOptions layer = {};
  bool final_norm = false;  // a LayerNorm after the last layer; usual with norm_first
};

/// Stacked TransformerEncoderLayers, then the final norm. caches, one per layer, are made in the first call
/// and continued in later ones; options with a cache of their own are a ValueError. Throws as its layers do; a call
/// that throws leaves the caches as they were. The constructor throws ValueError for a negative number of layers.
struct TransformerEncoder {
  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;

  TransformerEncoder(std::int64_t size, Random& random, const TransformerOptions& options = {});
  Tensor operator()(const Tensor& x, const AttendOptions& attend = {},
                    std::vector<KeyValueCache>* caches = nullptr) const;
  void visit(auto&& see) const { see("layers", layers), see("norm", norm); }
};

/// Stacked TransformerDecoderLayers, which all read the same memory, then the final norm. caches and errors as
/// in TransformerEncoder.
struct TransformerDecoder {
  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;

  TransformerDecoder(std::int64_t size, Random& random, const TransformerOptions& options = {});
  Tensor operator()(const Tensor& x, const Tensor& memory, const DecodeOptions& decode = {},
                    std::vector<TransformerDecoderCache>* caches = nullptr) const;
  void visit(auto&& see) const { see("layers", layers), see("norm", norm); }
};

}  // namespace retrace
