// Language models: that segments continue each other, that tied weights are one parameter, shapes, dropout, errors.
#include <retrace/models/networks/language_model.h>
#include <retrace/models/networks/model_options.h>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

constexpr std::int64_t vocabulary = 7, embedding = 6, hidden = 8;
const std::vector<std::string> bodies{"lstm", "gru", "rnn", "rmc", "attention"};

LanguageModelOptions small(const std::string& body, bool tied = false, std::int64_t longest = 12) {
  const ModelSizes sizes{.input = embedding,
                         .hidden = hidden,
                         .slot_size = 6,
                         .slots = 2,
                         .heads = 2,
                         .time = longest,
                         .form = without_missing_options({.name = body, .form = {.causal = true}}).form};
  return {vocabulary, body, sizes, tied};
}

class LanguageModelTest : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{5};
  Tensor ids = random.integers({3, 10}, vocabulary);
};

TEST_F(LanguageModelTest, GivesLogitsForEveryTokenAndAState) {
  for (const std::string& body : bodies)
    for (const bool tied : {false, true}) {
      const LanguageModel model(small(body, tied), random);
      const Continued result = model.continued(ids);
      EXPECT_EQ(result.answers.shape(), (Shape{3, 10, vocabulary}));
      EXPECT_EQ(model.continued(slice(ids, {range(0, 1), range(0, 1)})).answers.shape(), (Shape{1, 1, vocabulary}));
      EXPECT_EQ(result.state.parts.size(), body == "lstm" ? 2u : body == "attention" ? 4u : 1u);
    }
}

/// Segments of 4, 1 and 5 tokens, each from the state of the last, are one run of 10.
TEST_F(LanguageModelTest, ACarriedStateContinuesTheRun) {
  for (const std::string& body : bodies) {
    const LanguageModel model(small(body), random);
    const Continued whole = model.continued(ids);
    SequenceState state;
    Tensors logits;
    for (const auto& [begin, end] : {std::pair{0, 4}, {4, 5}, {5, 10}}) {
      auto [of_segment, next] = model.continued(slice(ids, {all, range(begin, end)}), state);
      logits.push_back(of_segment);
      state = next.detach();
    }
    EXPECT_LT(difference(concat(logits, 1), whole.answers), 1e-12) << body;
    ASSERT_EQ(state.parts.size(), whole.state.parts.size());
    for (std::size_t k = 0; k < state.parts.size(); ++k)
      EXPECT_LT(difference(state.parts[k], whole.state.parts[k]), 1e-12) << body;
    EXPECT_GT(difference(model.continued(slice(ids, {all, range(5, 10)})).answers, logits[2]), 1e-3)
        << "without it, another run";
  }
}

/// On one tape gradients go back through all segments; from a detached state they do not.
TEST_F(LanguageModelTest, DetachCutsTheGradientBetweenSegments) {
  for (const std::string& body : bodies) {
    const LanguageModel model(small(body), random);
    const Tensor first = slice(ids, {all, range(0, 4)}), second = slice(ids, {all, range(4, 10)});
    const Tensor u = random.normal({3, 6, vocabulary});
    const auto gradient = [&](const auto& run) {
      zero_grad(model);
      Tape tape;
      tape.backward({run()}, {u});
      return model.embed.weight.grad().clone();
    };
    const Tensor whole = gradient([&] { return slice(model.continued(ids).answers, {all, range(4, 10)}); });
    const Tensor carried = gradient([&] { return model.continued(second, model.continued(first).state).answers; });
    const SequenceState state = model.continued(first).state;
    const Tensor truncated = gradient([&] { return model.continued(second, state.detach()).answers; });
    EXPECT_LT(difference(carried, whole), 1e-12) << body;
    EXPECT_GT(difference(truncated, whole), 1e-3) << body;
  }
}

TEST_F(LanguageModelTest, LogitsDoNotDependOnLaterTokens) {
  const Tensor other =
      concat({slice(ids, {all, range(0, 6)}), (slice(ids, {all, range(6, 10)}).to(f64) * 0.0).to(i64)}, 1);
  for (const std::string& body : bodies) {
    const LanguageModel model(small(body), random);
    EXPECT_TRUE(same_bits(slice(model.continued(ids).answers, {all, range(0, 6)}),
                          slice(model.continued(other).answers, {all, range(0, 6)})));
  }
}

/// One parameter in the list, used for the tokens and for the logits: its gradient is the sum of both uses.
TEST_F(LanguageModelTest, TiedWeightsAreOneParameter) {
  const LanguageModel tied(small("lstm", true), random), free(small("lstm"), random);
  std::vector<std::string> names;
  for (const NamedTensor& parameter : parameters(tied)) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"embed.weight", "body.weight_ih", "body.weight_hh", "body.bias",
                                             "project.weight", "project.bias", "out_bias"}));
  EXPECT_EQ(count_parameters(free) - count_parameters(tied), hidden * vocabulary - (hidden + 1) * embedding);
  const Tensor before = tied.continued(ids).answers;
  tied.embed.weight.mutable_values<double>()[embedding * 2] += 1;  // of token 2
  EXPECT_GT(difference(tied.continued(ids).answers, before), 1e-3);
  Tape tape;
  const Tensor logits = tied.continued(indices({{0}})).answers;  // token 0 alone is read, and every token gets a logit
  tape.backward({logits}, {ones(logits.shape())});
  for (std::int64_t token = 0; token < vocabulary; ++token)
    EXPECT_GT(norm(tied.embed.weight.grad()[token]).item(), 1e-6) << token;
}

TEST_F(LanguageModelTest, WithoutAProjectionLogitsAreProductsWithTheEmbedding) {
  LanguageModelOptions options = small("gru", true);
  options.sizes.hidden = embedding;
  const LanguageModel model(options, random);
  EXPECT_FALSE(model.project || model.out);
  copy_values(random.normal({vocabulary}), *model.out_bias);
  const Tensor rows = model.body->answers(model.embed(ids), 10);
  EXPECT_LT(difference(model.continued(ids).answers, matmul(rows, transpose(model.embed.weight)) + *model.out_bias),
            1e-12);
}

/// Two models that hold the same body would share its weights.
TEST_F(LanguageModelTest, IsNotCopiedByAccident) { EXPECT_FALSE(std::is_copy_constructible_v<LanguageModel>); }

TEST_F(LanguageModelTest, DropoutNeedsAGeneratorAndDropsInBothPlaces) {
  LanguageModelOptions options = small("rnn");
  options.sizes.form.dropout = 1;
  const LanguageModel model(options, random);
  Random mask(1);
  EXPECT_GT(difference(model.continued(ids).answers, model.continued(ids, {}, &mask).answers), 1e-3);
  EXPECT_LT(difference(model.continued(ids, {}, &mask).answers, broadcast_to(*model.out->bias, {3, 10, vocabulary})),
            1e-12);
  EXPECT_EQ(max(abs(model.continued(ids, {}, &mask).state.parts[0])).item(), 0) << "nothing was read";
  EXPECT_TRUE(same_bits(model.continued(ids).answers, model.continued(ids).answers));
}

TEST_F(LanguageModelTest, LearnsATextByHeart) {
  const DtypeScope singles(f32);
  for (const std::string& body : bodies) {
    Random weights(2);
    const LanguageModel model(small(body, true, 16), weights);
    const Tensor text = indices({{0, 3, 1, 4, 1, 5, 2, 6, 5, 3, 5, 0, 2, 4, 6, 2, 6}});
    const Tensor in = slice(text, {all, range(0, 16)}), next = slice(text, {all, range(1, 17)});
    Adam adam(model, {.lr = 1e-2});
    double first = 0, last = 0;
    for (int step = 0; step < 200; ++step) {
      Tape tape;
      const Tensor loss = cross_entropy(model.continued(in).answers, next);
      tape.backward(loss);
      clip_norm(model, 1.0);
      adam.step();
      (step == 0 ? first : last) = loss.item();
    }
    EXPECT_NEAR(first, std::log(7.0), 0.7) << body;
    EXPECT_LT(last, 0.2) << body;
  }
}

TEST_F(LanguageModelTest, Errors) {
  const LanguageModel lstm(small("lstm"), random), gru(small("gru"), random);
  const LanguageModel rmc(small("rmc"), random), attention(small("attention"), random);
  expect_error<ShapeError>([&] { lstm.continued(ids[0]); },
                           "LanguageModel: the ids [10] must be [batch, time of 1 or more]; unsqueeze or reshape them");
  EXPECT_THROW(lstm.continued(zeros({3, 0}, i64)), ShapeError);
  EXPECT_THROW(lstm.continued(zeros({3, 2})), DtypeError);
  EXPECT_THROW(lstm.continued(indices({{vocabulary}})), IndexError);
  expect_error<ShapeError>([&] { gru.continued(ids, lstm.continued(ids).state); },
                           "continued: the state has 2 parts and that of this model 1; give the state that this model "
                           "gave, or an empty one");
  const Tensor one = slice(ids, {range(0, 1)});
  for (const LanguageModel* model : {&lstm, &gru, &rmc})
    EXPECT_THROW(model->continued(ids, model->continued(one).state), ShapeError);
  expect_error<ShapeError>(
      [&] {
        attention.continued(one, attention.continued(slice(ids, {all, range(0, 2)})).state);
      },
      "MultiHeadAttention: a cache with keys[3, 2, 8] and values[3, 2, 8] cannot take keys[1, 10, 8]; begin each batch "
      "with an empty cache");
  expect_error<ShapeError>(
      [&] {
        attention.continued(slice(ids, {all, range(0, 3)}), attention.continued(ids).state);
      },
      "AttentionModel: the input [3, 3, 6] has 3 steps after 10; from 1 to 12 have a position; make the model with a "
      "larger `longest`");
  LanguageModelOptions empty = small("lstm");
  empty.vocabulary = 0;
  expect_error<ValueError>([&] { LanguageModel(empty, random); },
                           "LanguageModel: vocabulary is 0; it has to be 1 or more");
}

}  // namespace
}  // namespace retrace
