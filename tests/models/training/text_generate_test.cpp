#include <gtest/gtest.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/models/networks/language_model.h>
#include <retrace/models/training/text/generate.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/models/training/text_runs.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// An untrained model: any text it writes must obey the rules.
StoredRun model_of(std::string_view name, TokenKind kind = TokenKind::characters, std::int64_t length = 8) {
  return untrained({Vocabulary::of("wei\u00df wie \u6c34\n so ", kind, 100), {}}, name, length);
}

const Vocabulary& vocabulary_of(const StoredRun& run) { return data_of(run).vocabulary; }

TEST(Generate, IsDeterministicBySeed) {
  for (const std::string_view name : model_names()) {
    const StoredRun model = model_of(name);
    const std::string once = generate(model, {.length = 40, .seed = 1, .prompt = "wei"});
    EXPECT_EQ(once, generate(model, {.length = 40, .seed = 1, .prompt = "wei"})) << name;
    EXPECT_NE(once, generate(model, {.length = 40, .seed = 2, .prompt = "wei"})) << name;
  }
}

TEST(Generate, GivesSoManyKnownCharacters) {
  for (const std::string_view name : model_names()) {
    const StoredRun model = model_of(name);
    for (const double temperature : {0.0, 1e-300, 1.0, 1e300}) {
      const std::string continuation = generate(model, {.length = 100, .temperature = temperature});
      EXPECT_EQ(vocabulary_of(model).encode(continuation).size(), 100U) << name << " at " << temperature;
    }
  }
  EXPECT_EQ(generate(model_of("gru"), {.length = 0, .prompt = "so"}), "");
}

TEST(Generate, NeverWritesAnUnknownWord) {
  const StoredRun model = model_of("lstm", TokenKind::words);
  // If it were allowed, it would be the only token written.
  const auto unknown = static_cast<std::size_t>(*vocabulary_of(model).find(unknown_word));
  dynamic_cast<const SequenceModelOf<LanguageModel>&>(*model.model)
      .module()
      .out_bias->mutable_values<float>()[unknown] = 100;
  for (const double temperature : {0.0, 1.0}) {
    const std::string continuation = generate(model, {.length = 50, .temperature = temperature, .prompt = "so nun"});
    EXPECT_EQ(count_tokens(continuation, TokenKind::words), 50);
    EXPECT_EQ(continuation.find(unknown_word), std::string::npos) << continuation;
  }
}

/// At temperature 0, each character is the most likely one given all previous characters.
TEST(Generate, IsGreedyAtTemperatureZero) {
  for (const std::string_view name : model_names()) {
    const StoredRun model = model_of(name, TokenKind::characters, 32);
    const std::string prompt = "wie so";
    const std::string continuation = generate(model, {.length = 20, .temperature = 0, .prompt = prompt});
    EXPECT_EQ(continuation, generate(model, {.length = 20, .temperature = 0, .seed = 9, .prompt = prompt})) << name;
    const std::vector<std::int32_t> ids = vocabulary_of(model).encode(prompt + continuation);
    const std::vector<std::int64_t> read(ids.begin(), ids.end());
    const Tensor best = argmax(model.model->continued(indices(read, {1, std::ssize(read)}), {}).answers);
    for (std::size_t k = vocabulary_of(model).encode(prompt).size(); k < ids.size(); ++k)
      EXPECT_EQ(best.values<std::int64_t>()[k - 1], ids[k]) << name << " at " << k;
  }
}

/// Draws follow softmax(logits / temperature): counted over many seeds.
TEST(Generate, DrawsWithTheProbabilitiesOfTheModel) {
  const StoredRun model = model_of("rnn");
  const Tensor newline = full({1, 1}, *vocabulary_of(model).find("\n"), i64);
  const Tensor expected = softmax(model.model->continued(newline, {}).answers.to(f64) / 0.5);
  const int draws = 2000;
  std::vector<double> counts(static_cast<std::size_t>(vocabulary_of(model).size()));
  for (int seed = 0; seed < draws; ++seed) {
    const std::string one =
        generate(model, {.length = 1, .temperature = 0.5, .seed = static_cast<std::uint64_t>(seed)});
    counts[static_cast<std::size_t>(vocabulary_of(model).encode(one)[0])] += 1.0 / draws;
  }
  for (std::size_t k = 0; k < counts.size(); ++k) EXPECT_NEAR(counts[k], expected.values<double>()[k], 0.05) << k;
}

TEST(Generate, AttentionGoesOnPastItsLongestSegment) {
  const StoredRun model = model_of("attention", TokenKind::characters, 4);
  EXPECT_EQ(vocabulary_of(model).encode(generate(model, {.length = 30, .prompt = "weiwieso"})).size(), 30U);
  const StoredRun shortest = model_of("attention", TokenKind::characters, 1);
  EXPECT_EQ(vocabulary_of(shortest).encode(generate(shortest, {.length = 5})).size(), 5U);
}

TEST(Generate, AStoredModelWritesTheSame) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  for (const TokenKind kind : {TokenKind::characters, TokenKind::words})
    for (const std::string_view name : model_names()) {
      const StoredRun model = model_of(name, kind);
      save_run(path, {.task = "text", .model = model.spec}, *model.task, *model.model);
      const StoredRun stored = load_run(path, TaskSamples::none);
      EXPECT_EQ(vocabulary_of(stored).tokens(), vocabulary_of(model).tokens());
      EXPECT_EQ(generate(stored, {.length = 20}), generate(model, {.length = 20})) << name;
    }
}

TEST(TextModel, EmbedsCharactersInNoMoreFeaturesThanTheyNeed) {
  std::string many;  // 100 different characters
  for (int k = 0; k < 100; ++k) many += {static_cast<char>(0xc3 + k / 64), static_cast<char>(0x80 + k % 64)};
  const auto features = [](const std::string& utf8, TokenKind kind, std::int64_t hidden) {
    const StoredRun run = untrained({Vocabulary::of(utf8, kind, 1000), {}}, "gru", 8, hidden);
    return run.model->embedded(zeros({1, 1}, i64)).dim(2);
  };
  EXPECT_EQ(features("a b c", TokenKind::characters, 80), 64);
  EXPECT_EQ(features("a b c", TokenKind::characters, 16), 16);
  EXPECT_EQ(features(many, TokenKind::characters, 128), 100);
  EXPECT_EQ(features(many, TokenKind::characters, 90), 90);
  EXPECT_EQ(features("a b c", TokenKind::words, 80), 80);
}

TEST(Generate, Errors) {
  const StoredRun model = model_of("gru");
  expect_error<ValueError>([&] { generate(model, {.length = -1}); }, "generate: length is -1; it is 0 tokens or more");
  expect_error<ValueError>([&] { generate(model, {.temperature = -0.5}); },
                           "generate: temperature is -0.5; it is a number of 0 or more");
  EXPECT_THROW(generate(model, {.temperature = std::nan("")}), ValueError);
  EXPECT_THROW(generate(model, {.prompt = "was"}), ValueError) << "there is no a";
  EXPECT_THROW(generate(model, {.prompt = "wei\xff"}), ValueError);
  StoredRun of_task;
  of_task.task_name = "babi", of_task.path = "a/weights.safetensors", of_task.task = make_task("babi");
  expect_error<ValueError>(
      [&] { generate(of_task, {}); },
      "generate: the model of a/weights.safetensors was trained on the task 'babi', not on a text; "
      "make one by: retrace train text --out DIR");
}

}  // namespace
}  // namespace retrace
