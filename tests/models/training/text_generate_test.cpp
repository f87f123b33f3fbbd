#include <gtest/gtest.h>
#include <retrace/models/training/text/generate.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// An untrained model: any text it writes must obey the rules.
TextModel model_of(std::string_view name, TokenKind kind = TokenKind::characters, std::int64_t length = 8) {
  Random random(4);
  return TextModel({.model = std::string(name), .hidden = 16, .length = length},
                   Vocabulary::of("wei\u00df wie \u6c34\n so ", kind, 100), random);
}

TEST(Generate, IsDeterministicBySeed) {
  for (const std::string_view name : model_names()) {
    const TextModel model = model_of(name);
    const std::string once = generate(model, {.length = 40, .seed = 1, .prompt = "wei"});
    EXPECT_EQ(once, generate(model, {.length = 40, .seed = 1, .prompt = "wei"})) << name;
    EXPECT_NE(once, generate(model, {.length = 40, .seed = 2, .prompt = "wei"})) << name;
  }
}

TEST(Generate, GivesSoManyKnownCharacters) {
  for (const std::string_view name : model_names()) {
    const TextModel model = model_of(name);
    for (const double temperature : {0.0, 1e-300, 1.0, 1e300}) {
      const std::string continuation = generate(model, {.length = 100, .temperature = temperature});
      EXPECT_EQ(model.vocabulary.encode(continuation).size(), 100U) << name << " at " << temperature;
    }
  }
  EXPECT_EQ(generate(model_of("gru"), {.length = 0, .prompt = "so"}), "");
}

TEST(Generate, NeverWritesAnUnknownWord) {
  const TextModel model = model_of("lstm", TokenKind::words);
  // If it were allowed, it would be the only token written.
  const auto unknown = static_cast<std::size_t>(*model.vocabulary.find(unknown_word));
  model.network.out_bias->mutable_values<float>()[unknown] = 100;
  for (const double temperature : {0.0, 1.0}) {
    const std::string continuation = generate(model, {.length = 50, .temperature = temperature, .prompt = "so nun"});
    EXPECT_EQ(count_tokens(continuation, TokenKind::words), 50);
    EXPECT_EQ(continuation.find(unknown_word), std::string::npos) << continuation;
  }
}

/// At temperature 0, each character is the most likely one given all previous characters.
TEST(Generate, IsGreedyAtTemperatureZero) {
  for (const std::string_view name : model_names()) {
    const TextModel model = model_of(name, TokenKind::characters, 32);
    const std::string prompt = "wie so";
    const std::string continuation = generate(model, {.length = 20, .temperature = 0, .prompt = prompt});
    EXPECT_EQ(continuation, generate(model, {.length = 20, .temperature = 0, .seed = 9, .prompt = prompt})) << name;
    const std::vector<std::int32_t> ids = model.vocabulary.encode(prompt + continuation);
    const std::vector<std::int64_t> read(ids.begin(), ids.end());
    const Tensor best = argmax(model.network(indices(read, {1, static_cast<std::int64_t>(read.size())})).logits);
    for (std::size_t k = model.vocabulary.encode(prompt).size(); k < ids.size(); ++k)
      EXPECT_EQ(best.values<std::int64_t>()[k - 1], ids[k]) << name << " at " << k;
  }
}

/// Draws follow softmax(logits / temperature): counted over many seeds.
TEST(Generate, DrawsWithTheProbabilitiesOfTheModel) {
  const TextModel model = model_of("rnn");
  const Tensor newline = full({1, 1}, *model.vocabulary.find("\n"), i64);
  const Tensor expected = softmax(model.network(newline).logits.to(f64) / 0.5);
  const int draws = 2000;
  std::vector<double> counts(static_cast<std::size_t>(model.vocabulary.size()));
  for (int seed = 0; seed < draws; ++seed) {
    const std::string one =
        generate(model, {.length = 1, .temperature = 0.5, .seed = static_cast<std::uint64_t>(seed)});
    counts[static_cast<std::size_t>(model.vocabulary.encode(one)[0])] += 1.0 / draws;
  }
  for (std::size_t k = 0; k < counts.size(); ++k) EXPECT_NEAR(counts[k], expected.values<double>()[k], 0.05) << k;
}

TEST(Generate, AttentionGoesOnPastItsLongestSegment) {
  const TextModel model = model_of("attention", TokenKind::characters, 4);
  EXPECT_EQ(model.vocabulary.encode(generate(model, {.length = 30, .prompt = "weiwieso"})).size(), 30U);
  const TextModel shortest = model_of("attention", TokenKind::characters, 1);
  EXPECT_EQ(shortest.vocabulary.encode(generate(shortest, {.length = 5})).size(), 5U);
}

TEST(Generate, AStoredModelWritesTheSame) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  for (const TokenKind kind : {TokenKind::characters, TokenKind::words})
    for (const std::string_view name : model_names()) {
      const TextModel model = model_of(name, kind);
      save_text_model(path, model);
      const TextModel stored = load_text_model(path);
      EXPECT_EQ(stored.vocabulary.tokens(), model.vocabulary.tokens());
      EXPECT_EQ(generate(stored, {.length = 20}), generate(model, {.length = 20})) << name;
    }
  save(path, model_of("gru").network);
  EXPECT_THROW(load_text_model(path), FileError) << "without a vocabulary";
}

TEST(TextModel, EmbedsCharactersInNoMoreFeaturesThanTheyNeed) {
  std::string many;  // 100 different characters
  for (int k = 0; k < 100; ++k) many += {static_cast<char>(0xc3 + k / 64), static_cast<char>(0x80 + k % 64)};
  const auto features = [](const std::string& utf8, TokenKind kind, std::int64_t hidden,
                           std::optional<std::int64_t> embedding = {}) {
    Random random(1);
    const Vocabulary vocabulary = Vocabulary::of(utf8, kind, 1000);
    return TextModel({.model = "gru", .hidden = hidden, .embedding = embedding}, vocabulary, random)
        .network.embed.weight.shape()[1];
  };
  EXPECT_EQ(features("a b c", TokenKind::characters, 80), 64);
  EXPECT_EQ(features("a b c", TokenKind::characters, 16), 16);
  EXPECT_EQ(features("a b c", TokenKind::characters, 80, 7), 7);
  EXPECT_EQ(features(many, TokenKind::characters, 128), 100);
  EXPECT_EQ(features(many, TokenKind::characters, 90), 90);
  EXPECT_EQ(features("a b c", TokenKind::words, 80), 80);
}

TEST(TextModel, StoresAnEmbeddingOfAnotherSizeThanHidden) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  for (const std::int64_t embedding : {16, 7}) {
    Random random(1);
    const Vocabulary vocabulary = Vocabulary::of("weiwieso", TokenKind::characters, 100);
    const TextModel model({.model = "gru", .hidden = 16, .embedding = embedding}, vocabulary, random);
    save_text_model(path, model);
    EXPECT_EQ(generate(load_text_model(path), {.length = 20}), generate(model, {.length = 20}));
  }
}

TEST(Generate, Errors) {
  const TextModel model = model_of("gru");
  expect_error<ValueError>([&] { generate(model, {.length = -1}); }, "generate: length is -1; it is 0 tokens or more");
  expect_error<ValueError>([&] { generate(model, {.temperature = -0.5}); },
                           "generate: temperature is -0.5; it is a number of 0 or more");
  EXPECT_THROW(generate(model, {.temperature = std::nan("")}), ValueError);
  EXPECT_THROW(generate(model, {.prompt = "was"}), ValueError) << "there is no a";
  EXPECT_THROW(generate(model, {.prompt = "wei\xff"}), ValueError);
}

}  // namespace
}  // namespace retrace
