// The Transformer's layers against their formulas, masks and lengths, dropout, generation with caches, errors.
#include <retrace/nn/layers/transformer.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/nn/module/module_test.h>

namespace retrace {
namespace {

constexpr AttentionPositions all_positions[] = {AttentionPositions::none, AttentionPositions::rotary,
                                                AttentionPositions::alibi};

class Transformer : public testing::Test {
 protected:
  /// All weights random, those of norms and biases, too.
  template <class M> M shaken(M module) {
    for (const NamedTensor& parameter : parameters(module))
      copy_values(random.normal(parameter.tensor.shape(), 0, 0.5), parameter.tensor);
    return module;
  }
  /// Applies a layer to parts of x one after the other.
  static Tensor in_parts(const Tensor& x, auto&& layer) {
    Tensors parts;
    for (const Tensor& part : split(x, {2, 1, 1, 2}, 1)) parts.push_back(layer(part));
    return concat(parts, 1);
  }
  DtypeScope doubles{f64};
  Random random{1};
  Tensor x = random.normal({2, 6, 8}), memory = random.normal({2, 4, 8});
  Tensor lengths = indices({4, 6}), memory_lengths = indices({4, 1});
};

Tensor norm_by_hand(const LayerNorm& norm, const Tensor& x) {
  const Tensor centred = x - mean(x, -1, {.keepdims = true});
  return centred / sqrt(var(x, -1, {.keepdims = true}) + norm.eps) * norm.weight + norm.bias;
}

/// linear2(g(linear1(x))) as the formula says.
Tensor feed_forward_by_hand(const auto& layer, const Tensor& x) {
  const Tensor inner = matmul(x, layer.linear1.weight, {.transpose_b = true}) + *layer.linear1.bias;
  Tensor y = layer.options.activation == FeedForward::gelu ? gelu(inner) : relu(inner);
  if (layer.options.activation == FeedForward::swiglu) {
    const std::int64_t half = inner.dim(-1) / 2;
    const Tensor a = slice(inner, {all, all, range(0, half)}), b = slice(inner, {all, all, range(half)});
    y = a * sigmoid(a) * b;
  }
  return matmul(y, layer.linear2.weight, {.transpose_b = true}) + *layer.linear2.bias;
}

TEST_F(Transformer, AnEncoderLayerIsItsFormula) {
  for (const FeedForward activation : {FeedForward::relu, FeedForward::gelu, FeedForward::swiglu})
    for (const bool norm_first : {false, true}) {
      const auto layer = shaken(TransformerEncoderLayer(
          8, random,
          {.heads = 2, .feed_forward = 10, .activation = activation, .norm_first = norm_first, .eps = 0.01}));
      const AttendOptions options{.causal = true, .lengths = lengths};
      const auto attend = [&](const Tensor& v) { return layer.self_attn(v, options).y; };
      Tensor y;
      if (norm_first) {
        y = x + attend(norm_by_hand(layer.norm1, x));
        y = y + feed_forward_by_hand(layer, norm_by_hand(layer.norm2, y));
      } else {
        y = norm_by_hand(layer.norm1, x + attend(x));
        y = norm_by_hand(layer.norm2, y + feed_forward_by_hand(layer, y));
      }
      EXPECT_LT(difference(layer(x, options), y), 1e-12) << norm_first;
      EXPECT_GT(difference(layer(x), y), 1e-3) << "the options count";
    }
}

TEST_F(Transformer, ADecoderLayerIsItsFormula) {
  for (const bool norm_first : {false, true}) {
    const auto layer = shaken(TransformerDecoderLayer(8, random, {.heads = 2, .norm_first = norm_first}));
    const auto attend = [&](const Tensor& v) {
      return layer.self_attn(v, {.mask = causal_mask(6), .lengths = lengths}).y;
    };
    const Tensor memory_mask = random.normal({6, 4});
    const auto read = [&](const Tensor& v) {
      return layer.multihead_attn(v, memory, memory, {.mask = memory_mask, .lengths = memory_lengths}).y;
    };
    Tensor y;
    if (norm_first) {
      y = x + attend(norm_by_hand(layer.norm1, x));
      y = y + read(norm_by_hand(layer.norm2, y));
      y = y + feed_forward_by_hand(layer, norm_by_hand(layer.norm3, y));
    } else {
      y = norm_by_hand(layer.norm1, x + attend(x));
      y = norm_by_hand(layer.norm2, y + read(y));
      y = norm_by_hand(layer.norm3, y + feed_forward_by_hand(layer, y));
    }
    const DecodeOptions options{.lengths = lengths, .memory_mask = memory_mask, .memory_lengths = memory_lengths};
    EXPECT_LT(difference(layer(x, memory, options), y), 1e-12) << norm_first;
    const DecodeOptions masked{.mask = causal_mask(6),
                               .causal = false,
                               .lengths = lengths,
                               .memory_mask = memory_mask,
                               .memory_lengths = memory_lengths};
    EXPECT_LT(difference(layer(x, memory, masked), y), 1e-12) << norm_first;
  }
}

TEST_F(Transformer, StacksAreTheirLayersThenTheNorm) {
  const TransformerOptions options{.layers = 2, .layer = {.heads = 2}, .final_norm = true};
  const auto encoder = shaken(TransformerEncoder(8, random, options));
  const auto decoder = shaken(TransformerDecoder(8, random, options));
  const AttendOptions causal{.causal = true};
  EXPECT_TRUE(same_bits(encoder(x, causal), (*encoder.norm)(encoder.layers[1](encoder.layers[0](x, causal), causal))));
  const Tensor below = decoder.layers[0](x, memory);
  EXPECT_TRUE(same_bits(decoder(x, memory), (*decoder.norm)(decoder.layers[1](below, memory))));
  EXPECT_FALSE(TransformerEncoder(8, random, {.layers = 1}).norm.has_value());
  EXPECT_TRUE(same_bits(TransformerEncoder(8, random, {.layers = 0})(x), x));
}

/// Different values behind the lengths, of x and of the memory, and a longer padding.
TEST_F(Transformer, PaddingChangesNoBitOfTheOthers) {
  for (const AttentionPositions positions : all_positions) {
    const TransformerOptions options{.layers = 2, .layer = {.heads = 2, .positions = positions}};
    const auto encoder = shaken(TransformerEncoder(8, random, options));
    const auto decoder = shaken(TransformerDecoder(8, random, options));
    const auto padded = [&](const Tensor& v, std::int64_t sample, std::int64_t length, std::int64_t more) {
      Tensor wider = concat({v, random.normal({2, more, 8})}, 1).clone();
      for (std::int64_t t = length; t < wider.dim(1); ++t) copy_values(random.normal({8}), wider[sample][t]);
      return wider;
    };
    for (const std::int64_t more : {0, 3}) {
      const Tensor other = padded(x, 0, 4, more), other_memory = padded(memory, 1, 1, more);
      const Tensor encoded = encoder(x, {.lengths = lengths}), again = encoder(other, {.lengths = lengths});
      const DecodeOptions decode{.lengths = lengths, .memory_lengths = memory_lengths};
      const Tensor decoded = decoder(x, memory, decode), decoded_again = decoder(other, other_memory, decode);
      for (const auto& [sample, length] : {std::pair(0, 4), std::pair(1, 6)}) {
        const std::vector<SliceIndex> valid{sample, range(0, length)};
        EXPECT_LT(difference(slice(encoded, valid), slice(again, valid)), more == 0 ? 1e-300 : 1e-13);
        EXPECT_LT(difference(slice(decoded, valid), slice(decoded_again, valid)), more == 0 ? 1e-300 : 1e-13);
      }
    }
  }
}

TEST_F(Transformer, GeneratingStepByStepIsTheWholeForward) {
  for (const Dtype dtype : {f32, f64})
    for (const AttentionPositions positions : all_positions)
      for (const bool norm_first : {false, true}) {
        const TransformerOptions options{
            .layers = 2, .layer = {.heads = 2, .norm_first = norm_first, .positions = positions}, .final_norm = true};
        const auto encoder = shaken(TransformerEncoder(8, random, options));
        const auto decoder = shaken(TransformerDecoder(8, random, options));
        to(encoder, dtype), to(decoder, dtype);
        const Tensor series = x.to(dtype), read = memory.to(dtype);
        const double limit = dtype == f64 ? 1e-13 : 2e-6;
        std::vector<KeyValueCache> caches;
        const auto continued = [&](const Tensor& part) { return encoder(part, {.causal = true}, &caches); };
        EXPECT_LT(difference(in_parts(series, continued), encoder(series, {.causal = true})), limit);
        ASSERT_EQ(caches.size(), 2U);
        EXPECT_EQ(caches[1].length(), 6);
        const DecodeOptions decode{.memory_lengths = memory_lengths};
        std::vector<TransformerDecoderCache> states;
        const auto decoded = [&](const Tensor& part) { return decoder(part, read, decode, &states); };
        EXPECT_LT(difference(in_parts(series, decoded), decoder(series, read, decode)), limit);
        EXPECT_EQ(states[0].self.length(), 6);
        EXPECT_EQ(states[0].cross.length(), 4);
      }
}

/// The memory is projected in the first step only.
TEST_F(Transformer, ADecodersCacheHoldsTheProjectedMemory) {
  const auto layer = shaken(TransformerDecoderLayer(8, random, {.heads = 2}));
  TransformerDecoderCache cache;
  const Tensors steps = split(x, {3, 3}, 1);
  layer(steps[0], memory, {}, &cache);
  const Tensor second = layer(steps[1], random.normal({2, 9, 8}), {}, &cache);
  EXPECT_LT(difference(second, slice(layer(x, memory), {all, range(3)})), 1e-13);
}

TEST_F(Transformer, DropoutActsWithAGeneratorOnly) {
  const TransformerLayerOptions form{.heads = 2, .dropout = 0.5};
  const auto encoder = shaken(TransformerEncoderLayer(8, random, form));
  const auto decoder = shaken(TransformerDecoderLayer(8, random, form));
  Random one(2), again(2), other(3);
  const Tensor y = encoder(x, {.random = &one}), z = decoder(x, memory, {.random = &one});
  EXPECT_TRUE(same_bits(encoder(x, {.random = &again}), y));
  EXPECT_TRUE(same_bits(decoder(x, memory, {.random = &again}), z));
  EXPECT_GT(difference(encoder(x, {.random = &other}), y), 1e-3);
  EXPECT_GT(difference(encoder(x), y), 1e-3);
  EXPECT_GT(difference(decoder(x, memory), z), 1e-3);
  const auto without = shaken(TransformerEncoderLayer(8, random, {.heads = 2, .dropout = 0}));
  EXPECT_TRUE(same_bits(without(x, {.random = &one}), without(x)));
}

TEST_F(Transformer, NamesAreThoseOfPytorch) {
  const TransformerOptions options{.layers = 1, .layer = {.heads = 2, .feed_forward = 3}, .final_norm = true};
  const std::vector<std::string> names = parameter_names_of(TransformerDecoder(8, random, options));
  EXPECT_EQ(names.front(), "layers.0.self_attn.query.weight");
  EXPECT_EQ(names[8], "layers.0.multihead_attn.query.weight");
  EXPECT_EQ(names[16], "layers.0.linear1.weight");
  EXPECT_EQ(names.back(), "norm.bias");
}

TEST_F(Transformer, Errors) {
  EXPECT_EQ(message_of<ShapeError>([&] { TransformerEncoderLayer(8, random, {.heads = 3}); }),
            "MultiHeadAttention: 3 heads do not divide 8 features; choose a divisor");
  EXPECT_EQ(message_of([&] { TransformerEncoder(8, random, {.layers = -1}); }),
            "TransformerEncoder: -1 layers; give 0 or more");
  const TransformerOptions two{.layers = 2, .layer = {.heads = 2}};
  const TransformerEncoder encoder(8, random, two);
  std::vector<KeyValueCache> caches(1);
  KeyValueCache cache;
  EXPECT_EQ(message_of([&] { encoder(x, {}, &caches); }),
            "TransformerEncoder: 1 caches for 2 layers; begin with an empty list of caches");
  EXPECT_EQ(message_of([&] { encoder(x, {.cache = &cache}); }),
            "TransformerEncoder: one cache cannot serve all layers; give a list of caches as the last argument");
  EXPECT_THROW(encoder(zeros({2, 6, 7})), ShapeError);
  caches.clear();
  encoder(x, {.causal = true}, &caches);
  EXPECT_THROW(encoder(zeros({3, 1, 8}), {.causal = true}, &caches), ShapeError);
  EXPECT_EQ(caches[0].length(), 6) << "what threw changed nothing";
  const TransformerDecoderLayer decoder(8, random, {.heads = 2});
  TransformerDecoderCache state;
  decoder(x, memory, {}, &state);
  EXPECT_THROW(decoder(x, memory, {.memory_lengths = indices({9, 9})}, &state), IndexError);
  EXPECT_EQ(state.self.length(), 6) << "what threw changed nothing";
}

}  // namespace
}  // namespace retrace
