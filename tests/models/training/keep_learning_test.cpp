#include <gtest/gtest.h>
#include <retrace/core/tape/tape.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/text/keep_learning.h>
#include <retrace/nn/optim/clip.h>
#include <retrace/nn/optim/optimizers.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/training/random_text.h>

#include <numeric>
#include <string>
#include <vector>

namespace retrace {
namespace {

TextModel model_for(const Vocabulary& vocabulary, std::string_view name, std::int64_t length = 8) {
  Random random = Random(1).stream("weights");
  return TextModel({.model = std::string(name), .hidden = 16, .length = length}, vocabulary, random);
}

double mean_of(const std::vector<double>& losses) {
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

TEST(TokenLosses, AreThoseOfTheTestInTheOrderOfTheText) {
  const DtypeScope doubles(f64);
  const TextData data = make_text_data(random_text(3000), TokenKind::characters, "a text");
  for (const std::string_view name : {"lstm", "rmc", "attention"}) {
    const TextModel model = model_for(data.vocabulary, name, 7);
    const std::vector<double> losses = token_losses(model, data.ids, streams_of_test(data.ids));
    ASSERT_GT(streams_of_test(data.ids), 1);
    ASSERT_EQ(losses.size(), data.ids.size() - 1);
    EXPECT_NEAR(mean_of(losses), evaluate(model, data.ids).loss, 1e-12) << name;
  }
  const TextModel model = model_for(data.vocabulary, "gru", 7);
  const Streams::Segment whole = Streams(data.ids, 1, static_cast<std::int64_t>(data.ids.size())).segment(0);
  const Tensor each = cross_entropy(model.network(whole.in).logits, whole.next, {.reduction = Reduction::none});
  const std::vector<double> losses = token_losses(model, data.ids, 1);
  for (std::size_t k = 0; k < losses.size(); ++k) ASSERT_NEAR(losses[k], each.values<double>()[k], 1e-12) << k;
}

/// Each segment is scored before the model learns from it: the first as by the frozen model, the second as by a model
/// that has made one step.
TEST(KeepLearning, ScoresASegmentBeforeItIsLearned) {
  const DtypeScope doubles(f64);
  const TextData data = make_text_data(random_text(40), TokenKind::characters, "a text");
  const TokenIds ids = TokenIds(data.ids).first(25);
  for (const std::string_view name : model_names()) {
    const TextModel model = model_for(data.vocabulary, name);
    const KeepLearningOptions options{.learning_rate = 1e-2, .clip = 0.1};
    const std::vector<double> losses = losses_while_learning(model, ids, options);
    ASSERT_EQ(losses.size(), 24U);
    const TextModel twin = twin_of(model);
    Adam adam(twin.network, {.lr = 1e-2, .b1 = 0});
    SequenceState state;
    for (std::int64_t number = 0; number < 3; ++number) {
      const Streams::Segment segment = Streams(ids, 1, 8).segment(number);
      Tape tape;
      const LanguageResult result = twin.network(segment.in, state);
      if (twin.carries_state()) state = result.state.detach();
      const Tensor loss = cross_entropy(result.logits, segment.next);
      const auto begin = losses.begin() + static_cast<std::ptrdiff_t>(8 * number);
      EXPECT_NEAR(mean_of({begin, begin + 8}), loss.item(), 1e-9) << name << ", segment " << number;
      tape.backward(loss);
      clip_norm(twin.network, 0.1);
      adam.step();
    }
  }
}

TEST(KeepLearning, HelpsWhereTheTextRepeatsAndLeavesTheModelAlone) {
  std::string lines;
  for (int k = 0; k < 60; ++k) lines += "never odd or even; ";
  const TextData data = make_text_data(lines, TokenKind::characters, "a text");
  for (const std::string_view name : model_names()) {
    const TextModel model = model_for(data.vocabulary, name);
    const std::string before = weights_hash(model.network);
    EXPECT_LT(mean_of(losses_while_learning(model, data.ids, {.learning_rate = 5e-3})),
              mean_of(token_losses(model, data.ids, 1)) - 0.5)
        << name;
    EXPECT_EQ(weights_hash(model.network), before) << name;
  }
}

TEST(KeepLearning, Errors) {
  const TextData data = make_text_data(random_text(40), TokenKind::characters, "a text");
  const TextModel model = model_for(data.vocabulary, "gru");
  for (const double rate : {0.0, -1.0})
    EXPECT_THROW(losses_while_learning(model, data.ids, {.learning_rate = rate}), ValueError) << rate;
  EXPECT_THROW(losses_while_learning(model, data.ids, {.clip = 0}), ValueError);
  EXPECT_THROW(losses_while_learning(model, TokenIds(data.ids).first(1)), ValueError);
  EXPECT_THROW(token_losses(model, TokenIds(data.ids).first(1), 1), ValueError);
}

}  // namespace
}  // namespace retrace
