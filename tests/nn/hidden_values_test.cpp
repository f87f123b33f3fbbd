// Values that masks and lengths hide reach no result, no gradient and no weight of a module, whatever they are.
#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/hidden_values.h>
#include <retrace/tests/source_text.h>

namespace retrace {
namespace {

constexpr std::int64_t batch = 3, time_steps = 5, features = 4;

Tensor lengths() { return indices({2, 5, 0}); }
/// [B, T, 1], 1 in the padding.
Tensor padding(std::int64_t time = time_steps) {
  return logical_not(
      reshape(less(reshape(arange(0, time, 1, i64), {1, time}), reshape(lengths(), {batch, 1})), {batch, time, 1}));
}
InputWithHidden padded(Random& random, Dtype dtype, std::int64_t size = features) {
  return {random.normal({batch, time_steps, size}, dtype), padding()};
}
InputWithHidden plain(Random& random, Dtype dtype, std::int64_t time = time_steps) {
  return {random.normal({batch, time, features}, dtype)};
}

struct NamedCase {
  std::string module;
  HidingCase run;
};

/// f(module, inputs) with all weights of the module.
template <class M, class F>
NamedCase of(const std::string& name, std::shared_ptr<M> module, std::vector<InputWithHidden> inputs, F f,
             Dtype dtype) {
  HidingCase run{.name = name, .function = {}, .inputs = std::move(inputs), .dtype = dtype};
  to(*module, dtype);
  for (const NamedTensor& parameter : parameters(*module)) run.weights.push_back(parameter.tensor);
  run.function = [module, f](const Tensors& in) { return f(*module, in); };
  return {name.substr(0, name.find(',')), std::move(run)};
}

template <class M> NamedCase recurrent(const std::string& name, Random& random, Dtype dtype) {
  const RecurrentOptions form{.layers = 2, .bidirectional = true, .dropout = 0.3};
  const auto run = [](const M& module, const Tensors& in) {
    Random masks(5);
    return Tensors{module(in[0], {}, lengths(), &masks).y};
  };
  return of(name, std::make_shared<M>(features, 3, random, form), {padded(random, dtype)}, run, dtype);
}

template <class M>
NamedCase with_memory(const std::string& name, std::shared_ptr<M> module, Random& random, Dtype dtype) {
  const auto run = [](const M& own, const Tensors& in) { return Tensors{own(in[0], {}, lengths()).y}; };
  return of(name, std::move(module), {padded(random, dtype)}, run, dtype);
}

std::vector<NamedCase> layers_with_lengths(Dtype dtype) {
  Random random(3);
  const RecurrentOptions reversed{.bidirectional = true};
  const auto relu = std::make_shared<Rnn>(features, 3, random, Activation::relu, reversed);
  const auto of_layer = [](const auto& module, const Tensors& in) { return Tensors{module(in[0], {}, lengths()).y}; };
  return {
      recurrent<Lstm>("Lstm", random, dtype),
      recurrent<Gru>("Gru", random, dtype),
      recurrent<Rnn>("Rnn", random, dtype),
      of("Rnn, relu", relu, {padded(random, dtype)}, of_layer, dtype),
      with_memory("DeltaNet", std::make_shared<DeltaNet>(features, random, DeltaNetOptions{.heads = 2, .head_size = 3}),
                  random, dtype),
      with_memory("Mlstm", std::make_shared<Mlstm>(features, random, MlstmOptions{.heads = 2, .head_size = 3}), random,
                  dtype),
      with_memory("Mlstm, exponential forget gate",
                  std::make_shared<Mlstm>(
                      features, random, MlstmOptions{.heads = 1, .head_size = 3, .forget_gate = MlstmForgetGate::exp}),
                  random, dtype),
      with_memory("Ntm", std::make_shared<Ntm>(features, 3, random, NtmOptions{.slots = 3, .slot_size = 2}), random,
                  dtype),
      with_memory("Dnc", std::make_shared<Dnc>(features, 3, random, DncOptions{.slots = 3, .slot_size = 2}), random,
                  dtype),
      with_memory("SoftMemoryRnn",
                  std::make_shared<SoftMemoryRnn>(features, 3, random, SoftMemoryRnnOptions{.cell_size = 2}), random,
                  dtype)};
}

using Mha = MultiHeadAttention;

std::vector<NamedCase> attention_with_lengths(Dtype dtype) {
  Random random(4);
  std::vector<NamedCase> cases;
  for (const AttentionPositions positions :
       {AttentionPositions::none, AttentionPositions::rotary, AttentionPositions::alibi})
    for (const bool causal : {false, true}) {
      const MultiHeadAttentionOptions form{.heads = 2, .bias = true, .dropout = 0.3, .positions = positions};
      const auto itself = [=](const Mha& mha, const Tensors& in) {
        Random masks(5);
        return Tensors{mha(in[0], {.causal = causal, .lengths = lengths(), .random = &masks}).y};
      };
      const auto without_weights = [=](const Mha& mha, const Tensors& in) {
        return Tensors{mha.without_weights(in[0], in[0], in[0], {.causal = causal, .lengths = lengths()})};
      };
      cases.push_back(of("MultiHeadAttention, itself", std::make_shared<Mha>(features, random, form),
                         {padded(random, dtype)}, itself, dtype));
      cases.push_back(of("MultiHeadAttention, without weights", std::make_shared<Mha>(features, random, form),
                         {padded(random, dtype)}, without_weights, dtype));
      const auto other = [=](const Mha& mha, const Tensors& in) {
        const AttentionResult result = mha(in[0], in[1], in[2], {.causal = causal, .lengths = lengths()});
        return Tensors{result.y, result.weights};
      };
      cases.push_back(of("MultiHeadAttention, another", std::make_shared<Mha>(features, random, form),
                         {plain(random, dtype, 3), padded(random, dtype), padded(random, dtype)}, other, dtype));
    }
  return cases;
}

/// Masks without lengths: keys that no query sees, of a module and of the function.
std::vector<NamedCase> attention_with_masks(Dtype dtype) {
  Random random(5);
  const Tensor visible = reshape(logical_not(padding()), {batch, 1, 1, time_steps});
  const std::vector<InputWithHidden> inputs{plain(random, dtype, 3), padded(random, dtype), padded(random, dtype)};
  const auto module = [=](const Mha& mha, const Tensors& in) {
    Random masks(5);
    const Tensor memory = mha.from_projected(in[0], mha.project(in[1], in[2]), {.mask = visible});
    return Tensors{mha(in[0], in[1], in[2], visible).y, memory,
                   mha.without_weights(in[0], in[1], in[2], {.mask = visible, .random = &masks})};
  };
  const auto bare = [=](const Mha& mha, const Tensors& in) {
    return Tensors{multi_head_attention(in[0], in[1], in[2], 2, mha.query.weight, mha.key.weight, mha.value.weight,
                                        mha.out.weight, visible)
                       .y};
  };
  const MultiHeadAttentionOptions form{.heads = 2, .dropout = 0.3};
  std::vector<NamedCase> cases{
      of("MultiHeadAttention, masked", std::make_shared<Mha>(features, random, form), inputs, module, dtype),
      of("multi_head_attention", std::make_shared<Mha>(features, random, form), inputs, bare, dtype)};
  // Padded rows as queries, too, whose results nobody reads.
  const auto itself = [=](const Mha& mha, const Tensors& in) { return Tensors{mha(in[0], {.mask = visible}).y}; };
  const auto causal = [](const Mha& mha, const Tensors& in) { return Tensors{mha(in[0], {.causal = true}).y}; };
  NamedCase by_mask = of("MultiHeadAttention, masked itself", std::make_shared<Mha>(features, random, form),
                         {padded(random, dtype)}, itself, dtype);
  NamedCase by_order = of("MultiHeadAttention, causal", std::make_shared<Mha>(features, random, form),
                          {padded(random, dtype)}, causal, dtype);
  for (NamedCase* one : {&by_mask, &by_order}) {
    one->run.unseen = {padding()};
    cases.push_back(*one);
  }
  return cases;
}

std::vector<NamedCase> transformers(Dtype dtype) {
  Random random(6);
  std::vector<NamedCase> cases;
  for (const bool norm_first : {false, true}) {
    const TransformerOptions form{.layers = 2,
                                  .layer = {.heads = 2,
                                            .feed_forward = 3,
                                            .activation = norm_first ? FeedForward::swiglu : FeedForward::gelu,
                                            .dropout = 0.2,
                                            .norm_first = norm_first},
                                  .final_norm = norm_first};
    const auto encode = [](const TransformerEncoder& encoder, const Tensors& in) {
      Random masks(5);
      return Tensors{encoder(in[0], {.lengths = lengths(), .random = &masks})};
    };
    const auto encode_with_caches = [](const TransformerEncoder& encoder, const Tensors& in) {
      std::vector<KeyValueCache> caches;
      return Tensors{encoder(in[0], {.causal = true, .lengths = lengths()}, &caches)};
    };
    cases.push_back(of("TransformerEncoder", std::make_shared<TransformerEncoder>(features, random, form),
                       {padded(random, dtype)}, encode, dtype));
    cases.push_back(of("TransformerEncoder, with caches", std::make_shared<TransformerEncoder>(features, random, form),
                       {padded(random, dtype)}, encode_with_caches, dtype));
    const auto encode_once = [](const TransformerEncoderLayer& layer, const Tensors& in) {
      return Tensors{layer(in[0], {.lengths = lengths()})};
    };
    cases.push_back(of("TransformerEncoderLayer",
                       std::make_shared<TransformerEncoderLayer>(features, random, form.layer), {padded(random, dtype)},
                       encode_once, dtype));
    const auto decode = [](const TransformerDecoder& decoder, const Tensors& in) {
      Random masks(5);
      return Tensors{decoder(in[0], in[1], {.lengths = lengths(), .memory_lengths = lengths(), .random = &masks})};
    };
    const auto decode_with_caches = [](const TransformerDecoder& decoder, const Tensors& in) {
      std::vector<TransformerDecoderCache> caches;
      const DecodeOptions of_memory{.memory_lengths = lengths()};
      const Tensor first = decoder(in[0], in[1], of_memory, &caches), next = decoder(in[0], in[1], of_memory, &caches);
      return Tensors{first, next};
    };
    cases.push_back(of("TransformerDecoder", std::make_shared<TransformerDecoder>(features, random, form),
                       {padded(random, dtype), padded(random, dtype)}, decode, dtype));
    cases.push_back(of("TransformerDecoder, with caches", std::make_shared<TransformerDecoder>(features, random, form),
                       {plain(random, dtype, 2), padded(random, dtype)}, decode_with_caches, dtype));
    const auto decode_once = [](const TransformerDecoderLayer& layer, const Tensors& in) {
      TransformerDecoderCache cache;
      return Tensors{
          layer(in[0], in[1], {.memory_mask = reshape(logical_not(padding()), {batch, 1, 1, time_steps})}, &cache)};
    };
    cases.push_back(of("TransformerDecoderLayer",
                       std::make_shared<TransformerDecoderLayer>(features, random, form.layer),
                       {plain(random, dtype, 2), padded(random, dtype)}, decode_once, dtype));
  }
  return cases;
}

std::vector<NamedCase> all_module_cases(Dtype dtype) {
  std::vector<NamedCase> all = layers_with_lengths(dtype);
  for (const auto cases : {attention_with_lengths, attention_with_masks, transformers})
    for (NamedCase& one : cases(dtype)) all.push_back(std::move(one));
  return all;
}

class HiddenValuesOfModules : public testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(Dtypes, HiddenValuesOfModules, testing::Values(f32, f64));

TEST_P(HiddenValuesOfModules, ReachNoResultAndNoWeight) {
  for (const NamedCase& one : all_module_cases(GetParam())) expect_hidden(one.run);
}

/// Every class of nn whose call takes lengths or a mask.
TEST(HiddenValuesInTheTable, AreThoseOfEveryModuleThatHides) {
  NameSet tested, hiding;
  for (const NamedCase& one : all_module_cases(f64)) tested.insert(one.module);
  for (const std::string& header : headers_in("nn")) {
    const std::regex part("\n(?:struct|class) ([A-Za-z]+)[^\n]*\\{([^]*?)\n\\};");
    for (std::sregex_iterator it(header.begin(), header.end(), part), end; it != end; ++it)
      if (std::regex_search((*it)[2].str(),
                            std::regex("operator\\(\\)\\([^)]*(?:lengths|mask|AttendOptions|DecodeOptions)")))
        hiding.insert((*it)[1]);
  }
  EXPECT_EQ(missing(hiding, tested), "");
  EXPECT_GE(hiding.size(), 13u);
}

}  // namespace
}  // namespace retrace
