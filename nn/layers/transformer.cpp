#include <retrace/nn/layers/transformer.h>

#include <utility>

#include <retrace/ops/loops/padding.h>

namespace retrace {
namespace {

std::int64_t inner_features(std::int64_t size, const TransformerLayerOptions& options) {
  return options.feed_forward == 0 ? 4 * size : options.feed_forward;
}

std::int64_t features_of_linear1(std::int64_t size, const TransformerLayerOptions& options) {
  return (options.activation == FeedForward::swiglu ? 2 : 1) * inner_features(size, options);
}

MultiHeadAttentionOptions attention_of(const TransformerLayerOptions& options, AttentionPositions positions) {
  return {.heads = options.heads, .bias = options.bias, .dropout = options.dropout, .positions = positions};
}

Tensor dropped(const Tensor& x, const TransformerLayerOptions& options, Random* random) {
  return options.dropout > 0 ? dropout(x, options.dropout, random) : x;
}

Tensor activated(const Tensor& x, const Linear& linear1, FeedForward activation) {
  if (activation != FeedForward::swiglu)
    return linear1(x, activation == FeedForward::gelu ? Activation::gelu : Activation::relu);
  return swiglu(linear1(x));
}

// The sum of x and what a sublayer makes of it, normalised before or after.
template <class Sublayer>
Tensor add_sublayer(const Tensor& x, const LayerNorm& norm, const TransformerLayerOptions& options, Random* random,
                    Sublayer&& sublayer) {
  if (options.norm_first) return x + dropped(sublayer(norm(x)), options, random);
  return norm(x, dropped(sublayer(x), options, random));
}

template <class Layer>
Tensor add_feed_forward(const Layer& layer, const Tensor& x, const LayerNorm& norm, Random* random) {
  return add_sublayer(x, norm, layer.options, random, [&](const Tensor& input) {
    const Tensor inner = activated(input, layer.linear1, layer.options.activation);
    return layer.linear2(dropped(inner, layer.options, random));
  });
}

template <class Stack>
void add_transformer_layers(const char* name, Stack& stack, std::int64_t size, Random& random,
                            const TransformerOptions& options) {
  if (options.layers < 0) throw ValueError(text(name, ": ", options.layers, " layers; give 0 or more"));
  for (int k = 0; k < options.layers; ++k) stack.layers.emplace_back(size, random, options.layer);
  if (options.final_norm) stack.norm.emplace(size, options.layer.eps, BiasOptions{options.layer.bias});
}

// Runs layer k with cache k, and hands on what they hold only after the last one.
template <class Stack, class Cache, class Run>
Tensor run_stack(const char* name, const Stack& stack, const Tensor& x, std::vector<Cache>* caches, Run&& run_layer) {
  if (caches != nullptr && !caches->empty() && caches->size() != stack.layers.size())
    throw ValueError(text(name, ": ", caches->size(), " caches for ", stack.layers.size(),
                          " layers; begin with an empty list of caches"));
  std::vector<Cache> next = caches == nullptr ? std::vector<Cache>() : *caches;
  next.resize(stack.layers.size());
  Tensor y = x;
  for (std::size_t k = 0; k < next.size(); ++k)
    y = run_layer(stack.layers[k], y, caches == nullptr ? nullptr : &next[k]);
  if (stack.norm) y = (*stack.norm)(y);
  if (caches != nullptr) *caches = std::move(next);
  return y;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t size, Random& random, const TransformerLayerOptions& form)
    : options(form),
      self_attn(size, random, attention_of(form, form.positions)),
      linear1(size, features_of_linear1(size, form), random, {form.bias}),
      linear2(inner_features(size, form), size, random, {form.bias}),
      norm1(size, form.eps, {form.bias}),
      norm2(size, form.eps, {form.bias}) {}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const AttendOptions& attend) const {
  const Scope scope(this, "encoder_layer");
  AttendOptions own = attend;
  KeyValueCache next = attend.cache == nullptr ? KeyValueCache() : *attend.cache;
  if (attend.cache != nullptr) own.cache = &next;
  const Tensor inside = with_harmless_padding(x, attend.lengths, next.length());
  const Tensor attended = add_sublayer(inside, norm1, options, attend.random, [&](const Tensor& input) {
    return self_attn.without_weights(input, input, input, own);
  });
  Tensor y = add_feed_forward(*this, attended, norm2, attend.random);
  if (attend.cache != nullptr) *attend.cache = std::move(next);
  return y;
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t size, Random& random, const TransformerLayerOptions& form)
    : options(form),
      self_attn(size, random, attention_of(form, form.positions)),
      multihead_attn(size, random, attention_of(form, AttentionPositions::none)),
      linear1(size, features_of_linear1(size, form), random, {form.bias}),
      linear2(inner_features(size, form), size, random, {form.bias}),
      norm1(size, form.eps, {form.bias}),
      norm2(size, form.eps, {form.bias}),
      norm3(size, form.eps, {form.bias}) {}

Tensor TransformerDecoderLayer::operator()(const Tensor& x, const Tensor& memory, const DecodeOptions& decode,
                                           TransformerDecoderCache* cache) const {
  const Scope scope(this, "decoder_layer");
  TransformerDecoderCache next = cache == nullptr ? TransformerDecoderCache() : *cache;
  const AttendOptions own{.mask = decode.mask,
                          .causal = decode.causal,
                          .lengths = decode.lengths,
                          .random = decode.random,
                          .cache = cache == nullptr ? nullptr : &next.self};
  const AttendOptions of_memory{.mask = decode.memory_mask, .lengths = decode.memory_lengths, .random = decode.random};
  const Tensor inside = with_harmless_padding(x, decode.lengths, next.self.length());
  const Tensor attended = add_sublayer(inside, norm1, options, decode.random, [&](const Tensor& input) {
    return self_attn.without_weights(input, input, input, own);
  });
  if (next.cross.length() == 0) {
    const Tensor inside_memory = with_harmless_padding(memory, decode.memory_lengths);
    next.cross = multihead_attn.project(inside_memory, inside_memory);
  }
  const Tensor informed = add_sublayer(attended, norm2, options, decode.random, [&](const Tensor& input) {
    return multihead_attn.from_projected(input, next.cross, of_memory);
  });
  Tensor y = add_feed_forward(*this, informed, norm3, decode.random);
  if (cache != nullptr) *cache = std::move(next);
  return y;
}

TransformerEncoder::TransformerEncoder(std::int64_t size, Random& random, const TransformerOptions& options) {
  add_transformer_layers("TransformerEncoder", *this, size, random, options);
}

Tensor TransformerEncoder::operator()(const Tensor& x, const AttendOptions& attend,
                                      std::vector<KeyValueCache>* caches) const {
  const Scope scope(this, "encoder");
  if (attend.cache != nullptr)
    throw ValueError(
        "TransformerEncoder: one cache cannot serve all layers; give a list of caches as the last argument");
  return run_stack("TransformerEncoder", *this, x, caches,
                   [&](const TransformerEncoderLayer& layer, const Tensor& input, KeyValueCache* cache) {
                     AttendOptions own = attend;
                     own.cache = cache;
                     return layer(input, own);
                   });
}

TransformerDecoder::TransformerDecoder(std::int64_t size, Random& random, const TransformerOptions& options) {
  add_transformer_layers("TransformerDecoder", *this, size, random, options);
}

Tensor TransformerDecoder::operator()(const Tensor& x, const Tensor& memory, const DecodeOptions& decode,
                                      std::vector<TransformerDecoderCache>* caches) const {
  const Scope scope(this, "decoder");
  const Tensor inside_memory = with_harmless_padding(memory, decode.memory_lengths);
  return run_stack("TransformerDecoder", *this, x, caches,
                   [&](const TransformerDecoderLayer& layer, const Tensor& input, TransformerDecoderCache* cache) {
                     return layer(input, inside_memory, decode, cache);
                   });
}

}  // namespace retrace
