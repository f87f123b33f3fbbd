// Going on from a state: every registered model reads a sequence in pieces as it reads it at once.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/networks/model_options.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/zoo.h>

namespace retrace {
namespace {

constexpr std::int64_t batch = 2, rows = 9, features = 3;

ModelSizes sizes_for(std::string_view name, ModelForm form = {}) {
  form.causal = true;
  return {.input = features,
          .hidden = 8,
          .output = 2,
          .slot_size = 4,
          .slots = 3,
          .heads = 2,
          .time = rows,
          .form = without_missing_options({.name = std::string(name), .form = form}).form};
}

/// The models whose answer after a row depends on no later one. A tape is a circle of as many cells as rows, so each
/// row that is added moves its end.
std::vector<std::string_view> causal_models() {
  std::vector<std::string_view> names;
  for (const std::string_view name : model_names())
    if (name != "tape-rnn") names.push_back(name);
  return names;
}

Tensor part(const Tensor& x, std::int64_t begin, std::int64_t end) { return slice(x, {all, range(begin, end)}); }

class ContinuedTest : public testing::Test {
 protected:
  std::unique_ptr<SequenceModel> make(std::string_view name, const ModelForm& form = {}) {
    return make_model(name, sizes_for(name, form), random);
  }
  /// The answers to x in pieces of 4, 1, 3 and 1 rows, each from the state after the one before.
  static Tensor in_pieces(const SequenceModel& model, const Tensor& x) {
    SequenceState state;
    Tensors answers;
    for (const auto& [begin, end] : {std::pair{0, 4}, {4, 5}, {5, 8}, {8, 9}}) {
      Continued next = model.continued(part(x, begin, end), state);
      answers.push_back(next.answers);
      state = std::move(next.state);
    }
    return concat(answers, 1);
  }

  DtypeScope doubles{f64};
  Random random{11};
  Tensor x = random.normal({batch, rows, features});
};

TEST_F(ContinuedTest, PiecesAreOneRun) {
  for (const std::string_view name : causal_models()) {
    const auto model = make(name);
    expect_near(in_pieces(*model, x), model->answers(x, rows), 1e-12, std::string(name));
  }
}

/// A recurrent network computes each row in the same way, however many are read at once.
TEST_F(ContinuedTest, PiecesOfARecurrentNetworkAreOneRunBitForBit) {
  std::vector<const char*> names{"lstm", "gru", "rnn", "rmc", "relational-rnn", "relational-memory"};
  if (has_zoo()) names.push_back("cell-memory");
  for (const Dtype dtype : {f64, f32}) {
    const DtypeScope scope(dtype);
    for (const char* name : names) {
      const auto model = make(name, {.layers = 2});
      EXPECT_TRUE(same_bits(in_pieces(*model, x.to(dtype)), model->answers(x.to(dtype), rows))) << name;
    }
  }
}

TEST_F(ContinuedTest, AnyPositionsGoOn) {
  for (const char* name : {"attention", "transformer"})
    for (const RowPositions positions : {RowPositions::none, RowPositions::learned, RowPositions::sinusoidal,
                                         RowPositions::rotary, RowPositions::alibi}) {
      const auto model = make(name, {.positions = positions});
      expect_near(in_pieces(*model, x), model->answers(x, rows), 1e-12, text(name, ", ", name_of(positions)));
    }
}

TEST_F(ContinuedTest, AnEmptyStateIsTheBeginning) {
  for (const std::string_view name : model_names()) {
    const auto model = make(name);
    EXPECT_TRUE(same_bits(model->continued(x, {}).answers, model->answers(x, rows))) << name;
  }
}

/// Dropout draws the same masks as in answers().
TEST_F(ContinuedTest, DropoutIsThatOfAnswers) {
  for (const std::string_view name : model_names()) {
    const auto model = make(name, {.dropout = 0.5});
    Random masks(3), same_masks(3);
    EXPECT_TRUE(same_bits(model->continued(x, {}, &masks).answers, model->answers(x, rows, &same_masks))) << name;
  }
}

TEST_F(ContinuedTest, GradientsFlowThroughAStateUnlessItIsDetached) {
  for (const std::string_view name : causal_models()) {
    const auto model = make(name);
    const Tensor first = part(x, 0, 4).clone().watch();
    const auto gradient = [&](bool detached) {
      first.zero_grad();
      Tape tape;
      const SequenceState state = model->continued(first, {}).state;
      tape.backward(sum(square(model->continued(part(x, 4, rows), detached ? state.detach() : state).answers)));
      return first.has_grad() ? norm(first.grad()).item() : 0.0;
    };
    EXPECT_GT(gradient(false), 1e-9) << name;
    EXPECT_EQ(gradient(true), 0) << name;
  }
}

TEST_F(ContinuedTest, GradientsOfAContinuedStepAreRight) {
  for (const std::string_view name : causal_models()) {
    const auto model = make(name);
    const auto run = [&](const Tensors& inputs) {
      return Tensors{model->continued(inputs[1], model->continued(inputs[0], {}).state).answers};
    };
    const GradcheckResult result = gradcheck(Function(run), {part(x, 0, 2).clone(), part(x, 2, 4).clone()});
    EXPECT_TRUE(result.passed()) << name << ": " << result;
  }
}

TEST_F(ContinuedTest, AStateOfAnotherModelOrBatchIsRefused) {
  for (const std::string_view name : model_names()) {
    const auto model = make(name);
    EXPECT_THROW(model->continued(x, {{x, x, x, x, x}}), ShapeError) << name;
    const Tensor one = slice(x, {range(0, 1), range(0, 2)});
    EXPECT_THROW(model->continued(part(x, 2, 4), model->continued(one, {}).state), ShapeError) << name;
  }
  expect_error<ShapeError>([&] { make("gru")->continued(x, make("lstm")->continued(x, {}).state); },
                           "continued: the state has 2 parts and that of this model 1; give the state that this model "
                           "gave, or an empty one");
}

TEST_F(ContinuedTest, ModelsThatSeeLaterRowsHaveNoStateToGoOnFrom) {
  expect_words<ValueError>([&] { make("lstm", {.bidirectional = true})->continued(x, {}); },
                           {"without `bidirectional`"});
  for (const char* name : {"attention", "transformer"}) {
    ModelSizes sizes = sizes_for(name);
    sizes.form.causal = false;
    expect_words<ValueError>([&] { make_model(name, sizes, random)->continued(x, {}); },
                             {"cannot go on from a state", "make the model with `causal`"});
  }
}

/// z_t = W (x_0 + ... + x_t), with a state of its own.
struct SumsOfRows {
  Linear out;
  explicit SumsOfRows(Random& random) : out(features, 2, random) {}
  Tensor operator()(const Tensor& x) const { return out(sum(x, 1)); }
  Continued continued(const Tensor& x, const SequenceState& state, Random*) const {
    const Tensor before = state.take(1)[0], sums = cumsum(x, 1);
    const Tensor after = before.defined() ? sums + before : sums;
    return {out(after), {{slice(after, {all, range(-1)})}}};
  }
  void visit(auto&& see) const { see("out", out); }
};

TEST_F(ContinuedTest, AModuleBringsAStateOfItsOwn) {
  const SequenceModelOf<SumsOfRows> model(random);
  expect_near(in_pieces(model, x), model.answers(x, rows), 1e-12);
  EXPECT_EQ(model.continued(x, {}).state.parts[0].shape(), (Shape{batch, 1, features}));
}

}  // namespace
}  // namespace retrace
