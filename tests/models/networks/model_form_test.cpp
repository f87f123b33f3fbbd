// Layers, dropout, directions, positions and masks of the models by name: what each does to a network, which model has
// which, and how they are stored.
#include <gtest/gtest.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/language_model.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/nn/layers/gru.h>
#include <retrace/nn/layers/transformer.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/zoo.h>

#include <memory>
#include <string>
#include <vector>

namespace retrace {
namespace {

constexpr RowPositions all_positions[] = {RowPositions::none, RowPositions::learned, RowPositions::sinusoidal,
                                          RowPositions::rotary, RowPositions::alibi};

class ModelFormTest : public testing::Test {
 protected:
  std::unique_ptr<SequenceModel> make(std::string_view name, const ModelForm& form, std::int64_t time = 6) {
    Random weights(3);
    return make_model(
        name, {.input = 3, .hidden = 8, .output = 2, .slot_size = 8, .slots = 3, .time = time, .form = form}, weights);
  }

  DtypeScope doubles{f64};
  Random random{5};
  Tensor x = random.normal({4, 6, 3});
};

TEST_F(ModelFormTest, TheDefaultsAreTheModelsOwn) {
  const auto same = [&](const std::string& name, const ModelForm& form) {
    EXPECT_EQ(difference((*make(name, form))(x), (*make(name, {}))(x)), 0) << name;
  };
  for (const char* name : {"lstm", "gru", "rnn", "rmc"}) same(name, {.layers = 1});
  same("attention", {.layers = 2, .positions = RowPositions::learned, .feed_forward = 16});
  same("transformer", {.feed_forward = 32});
}

TEST_F(ModelFormTest, AFurtherLayerIsFurtherParameters) {
  for (const std::string_view name : model_names()) {
    if (!has_option(ModelSpec{.name = std::string(name)}, "layers")) continue;
    const auto count = [&](int layers) { return count_parameters(*make(name, {.layers = layers})); };
    EXPECT_GT(count(3) - count(2), 0) << name;
    EXPECT_EQ(count(4) - count(3), count(3) - count(2)) << name;
  }
}

TEST_F(ModelFormTest, AFurtherFeatureOfAnMlpIsTwoWeightsAndABiasOfEachLayer) {
  for (const char* name : {"attention", "transformer"}) {
    const auto count = [&](std::int64_t features) {
      return count_parameters(*make(name, {.layers = 3, .feed_forward = features}));
    };
    EXPECT_EQ(count(12) - count(11), 3 * (8 + 8 + 1)) << name;
  }
}

/// Every model that drops gives other answers with a generator, the same ones with the same, its own without.
TEST_F(ModelFormTest, DropoutFallsInTrainingAlone) {
  for (const std::string_view name : model_names()) {
    const auto model = make(name, {.dropout = 0.5}), plain = make(name, {});
    Random first(1), again(1), second(2), third(3);
    EXPECT_EQ(difference((*model)(x), (*plain)(x)), 0) << name;
    EXPECT_EQ(difference((*model)(x, nullptr), (*plain)(x)), 0) << name;
    const Tensor y = (*model)(x, &first);
    EXPECT_GT(difference(y, (*plain)(x)), 1e-3) << name;
    EXPECT_EQ(difference((*model)(x, &again), y), 0) << name;
    EXPECT_GT(difference((*model)(x, &second), y), 1e-3) << name;
    EXPECT_EQ(difference(model->answers(x, 3), plain->answers(x, 3)), 0) << name;
    EXPECT_GT(difference(model->answers(x, 3, &third), plain->answers(x, 3)), 1e-3) << name;
  }
}

/// With all outputs of the first layer dropped, the second sees nothing of x.
TEST_F(ModelFormTest, DropoutFallsBetweenRecurrentLayers) {
  for (const char* name : {"lstm", "gru", "rnn"}) {
    const auto model = make(name, {.layers = 2, .dropout = 1});
    EXPECT_EQ(difference((*model)(x, &random), (*model)(2 * x, &random)), 0) << name;
    EXPECT_GT(difference((*model)(x), (*model)(2 * x)), 1e-3) << name;
  }
}

/// The answer of a bidirectional model is that of the last layer's state after the last row, beside that after the
/// first.
TEST_F(ModelFormTest, ABidirectionalModelAnswersFromBothEnds) {
  for (const int layers : {1, 2}) {
    const auto model = make("gru", {.layers = layers, .bidirectional = true});
    Random weights(3);
    const RecurrentOptions form{.layers = layers, .bidirectional = true};
    const Gru gru(3, 8, weights, form);
    const Linear out(16, 2, weights);
    const Tensor y = gru(x).y;
    const Tensor forward = slice(y, {all, 5, range(0, 8)}), backward = slice(y, {all, 0, range(8, 16)});
    expect_near((*model)(x), out(concat({forward, backward}, -1)), 1e-12);
  }
}

TEST_F(ModelFormTest, ABidirectionalModelHasNoAnswersAfterSingleRows) {
  const auto model = make("lstm", {.bidirectional = true});
  EXPECT_EQ(message_of<ValueError>([&] { model->answers(x, 3); }),
            "make_model: a bidirectional model has read every row before it answers, so it has no answers after single "
            "rows; make it without `bidirectional`");
  EXPECT_THROW(model->states(x), ValueError);
}

/// The states, one cell and one step at a time, end in the answers of the fused layers.
TEST_F(ModelFormTest, StatesOfStackedLayersLeadToTheAnswers) {
  for (const char* name : {"lstm", "gru", "rnn"}) {
    const auto model = make(name, {.layers = 3});
    const StatesOverTime states = model->states(x);
    expect_near(states.answers, model->answers(x, 6), 1e-12, name);
    EXPECT_EQ(states.states.size(), std::string(name) == "lstm" ? 6U : 3U);
    EXPECT_EQ(states.states.front().name, "h of layer 0");
  }
  EXPECT_EQ(make("gru", {})->states(x).states.front().name, "h");
}

/// The answer after the last row depends on the order of the earlier ones, unless rows have no position.
TEST_F(ModelFormTest, PositionsTellRowsApart) {
  const Tensor swapped =
      concat({slice(x, {all, range(1, 2)}), slice(x, {all, range(0, 1)}), slice(x, {all, range(2, 6)})}, 1);
  for (const RowPositions positions : all_positions) {
    const auto model = make("attention", {.positions = positions});
    const double changed = difference((*model)(swapped), (*model)(x));
    if (positions == RowPositions::none)
      EXPECT_LT(changed, 1e-12);
    else
      EXPECT_GT(changed, 1e-6) << name_of(positions);
  }
}

/// The answer after a row is that of the rows up to it alone, for attention of both kinds and all positions.
TEST_F(ModelFormTest, CausalAttentionSeesNoLaterRow) {
  for (const char* name : {"attention", "transformer"})
    for (const RowPositions positions : all_positions) {
      const auto all_seen = make(name, {.positions = positions}),
                 causal = make(name, {.positions = positions, .causal = true}),
                 not_causal = make(name, {.positions = positions, .causal = false});
      const Tensor answers = causal->answers(x, 6);
      for (std::int64_t t = 0; t < 6; ++t)
        expect_near(slice(answers, {all, t}), (*causal)(slice(x, {all, range(0, t + 1)})), 1e-12, name);
      expect_near(causal->states(x).answers, answers, 1e-12, name);
      EXPECT_GT(difference(slice(answers, {all, 0}), slice(all_seen->answers(x, 6), {all, 0})), 1e-3) << name;
      EXPECT_EQ(difference(not_causal->answers(x, 6), all_seen->answers(x, 6)), 0) << name;
    }
}

/// The last layer computes the rows that are answered alone; neither they nor any gradient may notice.
TEST_F(ModelFormTest, FewerAnswersAreTheLastOfAll) {
  const Tensor cotangent = random.normal({4, 2, 2});
  const auto expect_same = [&](const SequenceModel& model, const char* name) {
    const auto results = [&](std::int64_t count) {
      Tape tape;
      const Tensor last_two = last_steps(model.answers(x, count), 2);
      tape.backward(sum(last_two * cotangent));
      Tensors values{last_two.detach()};
      for (const NamedTensor& parameter : parameters(model)) {
        values.push_back(parameter.tensor.grad().clone());
        parameter.tensor.zero_grad();
      }
      return values;
    };
    const Tensors expected = results(6), found = results(2);
    for (std::size_t k = 0; k < expected.size(); ++k) expect_near(found[k], expected[k], 1e-12, name);
  };
  for (const char* name : {"attention", "transformer"})
    for (const RowPositions positions : all_positions)
      for (const bool causal : {false, true})
        for (const int layers : {1, 3})
          expect_same(*make(name, {.layers = layers, .positions = positions, .causal = causal}), name);
}

TEST_F(ModelFormTest, OnlyLearnedPositionsEnd) {
  for (const RowPositions positions : all_positions) {
    const auto model = make("attention", {.positions = positions}, 5);  // rows, of which x has 6
    if (positions == RowPositions::learned)
      EXPECT_THROW((*model)(x), ShapeError);
    else
      EXPECT_EQ((*model)(x).shape(), (Shape{4, 2})) << name_of(positions);
    EXPECT_THROW((*model)(zeros({4, 0, 3})), ShapeError) << name_of(positions);
  }
}

/// A transformer is embedding, nn's encoder and output layer.
TEST_F(ModelFormTest, ATransformerIsTheLibrarysEncoder) {
  const auto model = make("transformer", {.layers = 3, .positions = RowPositions::rotary});
  Random weights(7);
  const TransformerOptions options{
      .layers = 3,
      .layer = {.heads = 4, .dropout = 0, .norm_first = true, .positions = AttentionPositions::rotary},
      .final_norm = true};
  const TransformerEncoder encoder(8, weights, options);
  const Linear input(3, 8, weights), out(8, 2, weights);
  const auto copy = [&](const std::string& prefix, const auto& module) {
    for (const NamedTensor& of_module : parameters(module))
      for (const NamedTensor& of_model : parameters(*model))
        if (of_model.name == prefix + of_module.name) copy_values(of_model.tensor, of_module.tensor);
  };
  copy("", encoder), copy("input.", input), copy("out.", out);
  expect_near((*model)(x), out(slice(encoder(input(x)), {all, 5})), 1e-12);
}

/// Segments of a text, each from the state of the last, are one run, with any layers and positions.
TEST_F(ModelFormTest, ALayeredLanguageModelContinuesItsRun) {
  const Tensor ids = random.integers({3, 10}, 7);
  const auto check = [&](const LanguageModelOptions& options, const std::string& what) {
    const LanguageModel model(options, random);
    SequenceState state;
    Tensors logits;
    for (const auto& [begin, end] : {std::pair{0, 4}, {4, 5}, {5, 10}}) {
      auto [of_segment, next] = model.continued(slice(ids, {all, range(begin, end)}), state);
      logits.push_back(of_segment);
      state = next.detach();
    }
    expect_near(concat(logits, 1), model.continued(ids).answers, 1e-12, what);
  };
  const auto with = [](ModelForm form) {
    form.dropout = 0.3;
    return ModelSizes{.input = 6, .hidden = 8, .time = 10, .form = form};
  };
  for (const char* name : {"lstm", "gru", "rnn"}) check({7, name, with({.layers = 2})}, name);
  for (const char* name : {"attention", "transformer"})
    for (const RowPositions positions : all_positions)
      check({7, name, with({.positions = positions, .causal = true})}, std::string(name_of(positions)));
}

// ---- which model has which, and files

TEST_F(ModelFormTest, AnOptionThatAModelDoesNotHaveNamesThoseThatHaveIt) {
  const auto refused = [](const char* model, const ModelForm& form) {
    return message_of<ValueError>([&] { check_model_options("train", {.name = model, .form = form}); });
  };
  for (const bool causal : {true, false})
    EXPECT_EQ(refused("lstm", {.causal = causal}),
              "train: the model 'lstm' has no option 'causal', which is for attention, transformer; leave it out");
  EXPECT_EQ(refused("gru", {.feed_forward = 8}),
            text("train: the model 'gru' has no option 'feed-forward', which is for attention, transformer",
                 with_zoo(", delta-net, mlstm"), "; leave it out"));
  EXPECT_EQ(refused("attention", {.feed_forward = 0}), "train: feed_forward is 0; it has to be above 0");
  EXPECT_EQ(refused("lstm", {.dropout = 1.5}), "train: dropout is 1.5; it has to be from 0 to below 1");
  EXPECT_EQ(refused("lstm", {.layers = 0}), "train: layers is 0; it has to be from 1 to 1000");
  check_model_options("train", {.name = "a model without choices", .form = {.layers = 2, .bidirectional = true}});
  const ModelForm all{.layers = 2,
                      .dropout = 0.1,
                      .bidirectional = true,
                      .positions = RowPositions::alibi,
                      .causal = true,
                      .feed_forward = 8};
  EXPECT_EQ(without_missing_options({.name = "rmc", .form = all}).form, (ModelForm{.layers = 2, .dropout = 0.1}));
}

TEST_F(ModelFormTest, IsStoredWhereItIsGivenAndReadAgain) {
  ModelSpec spec{.name = "lstm", .sizes = {.hidden = 8, .slot_size = 4, .slots = 2, .heads = 2}};
  const auto stored = [&] { return JsonObject{{"model", spec.name}, {"sizes", sizes_to_json(spec)}}.text(); };
  EXPECT_EQ(stored(), R"({"model":"lstm","sizes":{"heads":2,"slots":2,"slot_size":4,"hidden":8}})");
  EXPECT_EQ(model_spec_in(JsonFields("it", stored())).form, ModelForm{});
  spec.form = {.layers = 3,
               .dropout = 0.25,
               .bidirectional = true,
               .positions = RowPositions::sinusoidal,
               .causal = true,
               .feed_forward = 128};
  EXPECT_EQ(model_spec_in(JsonFields("it", stored())).form, spec.form);
  EXPECT_EQ(in_words(spec.form),
            "layers 3, dropout 0.25, bidirectional, positions sinusoidal, causal, feed-forward 128");
  spec.form = {.causal = false};
  EXPECT_EQ(model_spec_in(JsonFields("it", stored())).form, spec.form);
  EXPECT_EQ(in_words(spec.form), "not causal");
  const std::string wrong =
      R"({"model":"lstm","sizes":{"heads":2,"slots":2,"slot_size":4,"hidden":8,"positions":"rotari"}})";
  EXPECT_EQ(message_of<ValueError>([&] { model_spec_in(JsonFields("it", wrong)); }),
            "sizes.positions: there is no kind of positions named 'rotari'; did you mean rotary (known: none, learned, "
            "sinusoidal, rotary, alibi)");
}

}  // namespace
}  // namespace retrace
