// Small models around the measured layers.
#pragma once

#include <cstdint>

#include <retrace/nn/nn.h>

namespace retrace {

/// A recurrent layer, and a linear layer applied to h of every step.
template <class Layer> struct Tagger {
  Layer layer;
  Linear out;

  Tagger(std::int64_t input, std::int64_t hidden, std::int64_t output, Random& random)
      : layer(input, hidden, random), out(hidden, output, random) {}
  Tensor operator()(const Tensor& x) const { return out(layer(x).y); }
  void visit(auto&& see) const { see("layer", layer), see("out", out); }
};

/// Self-attention with one product for q, k and v.
struct SelfAttention {
  Linear qkv, out;
  int heads;

  SelfAttention(std::int64_t size, int count, Random& random)
      : qkv(size, 3 * size, random), out(size, size, random), heads(count) {}
  Tensor operator()(const Tensor& x, bool causal = false) const {
    return out(packed_attention(qkv(x), {.heads = heads, .key_size = x.dim(-1) / heads, .causal = causal}));
  }
  void visit(auto&& see) const { see("qkv", qkv), see("out", out); }
};

}  // namespace retrace
