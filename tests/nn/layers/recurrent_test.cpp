// LSTM, GRU and RNN: a step by hand, a sequence against its cell, states passed on, edge cases, errors.
#include <retrace/nn/layers/recurrent.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

constexpr std::int64_t input = 3, hidden = 5;
/// Small finite differences, so that none straddles a kink of relu.
const GradcheckOptions no_kink_between{.step = 1e-4};

/// A common interface to the three layers. A state is a list, {h, c} or {h}; an empty list stands for zeros.
struct Run {
  Tensor y;
  Tensors state;
};
struct LstmLayer {
  Lstm layer;
  explicit LstmLayer(Random& random) : layer(input, hidden, random) {}
  Run run(const Tensor& x, const Tensors& s = {}) const {
    const LstmResult result = s.empty() ? layer(x) : layer(x, {s[0], s[1]});
    return {result.y, {result.state.h, result.state.c}};
  }
  Tensors step(const Tensor& x, const Tensors& s) const {
    const LstmState next = layer.cell(x, {s[0], s[1]});
    return {next.h, next.c};
  }
  static constexpr int states = 2;
  static constexpr const char* name = "Lstm";
};
struct GruLayer {
  Gru layer;
  explicit GruLayer(Random& random) : layer(input, hidden, random) {}
  Run run(const Tensor& x, const Tensors& s = {}) const {
    const GruResult result = s.empty() ? layer(x) : layer(x, s[0]);
    return {result.y, {result.h}};
  }
  Tensors step(const Tensor& x, const Tensors& s) const { return {layer.cell(x, s[0])}; }
  static constexpr int states = 1;
  static constexpr const char* name = "Gru";
};
template <Activation activation> struct RnnLayer {
  Rnn layer;
  explicit RnnLayer(Random& random) : layer(input, hidden, random, activation) {}
  Run run(const Tensor& x, const Tensors& s = {}) const {
    const RnnResult result = s.empty() ? layer(x) : layer(x, s[0]);
    return {result.y, {result.h}};
  }
  Tensors step(const Tensor& x, const Tensors& s) const { return {layer.cell(x, s[0])}; }
  static constexpr int states = 1;
  static constexpr const char* name = "Rnn";
};

void expect_equal(const Tensor& a, const Tensor& b, const char* what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  if (a.numel() == 0) return;
  EXPECT_LT(max(abs(a.to(f64) - b.to(f64))).item(), a.dtype() == f64 ? 1e-12 : 1e-6) << what;
}

template <class Layer> class Recurrent : public testing::Test {
 protected:
  /// Biases that are not zero, so that an omitted bias or one added twice shows.
  Recurrent() {
    for (const NamedTensor& parameter : parameters(layer.layer))
      if (parameter.name.starts_with("bias")) copy_values(random.normal(parameter.tensor.shape()), parameter.tensor);
  }
  Tensors random_state(std::int64_t batch) {
    Tensors state;
    for (int k = 0; k < Layer::states; ++k) state.push_back(random.normal({batch, hidden}));
    return state;
  }
  Tensor some_input(std::int64_t batch, std::int64_t time) { return random.normal({batch, time, input}); }
  void expect_all_equal(const Tensors& a, const Tensors& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) expect_equal(a[k], b[k], text("tensor ", k).c_str());
  }

  DtypeScope doubles{f64};
  Random random{1};
  Layer layer{random};
};
using Layers = testing::Types<LstmLayer, GruLayer, RnnLayer<Activation::tanh>, RnnLayer<Activation::relu>>;
TYPED_TEST_SUITE(Recurrent, Layers);

TYPED_TEST(Recurrent, ASequenceIsItsCellStepByStep) {
  const Tensor x = this->some_input(4, 6);
  const Tensors start = this->random_state(4);
  const Run whole = this->layer.run(x, start);
  ASSERT_EQ(whole.y.shape(), (Shape{4, 6, hidden}));
  Tensors state = start;
  for (std::int64_t t = 0; t < 6; ++t) {
    state = this->layer.step(at_step(x, t), state);
    expect_equal(at_step(whole.y, t), state[0], "y");
  }
  this->expect_all_equal(whole.state, state);
}

TYPED_TEST(Recurrent, WithoutAStateItBeginsFromZero) {
  const Tensor x = this->some_input(2, 3);
  const Tensors start(TypeParam::states, zeros({2, hidden}));
  expect_equal(this->layer.run(x).y, this->layer.run(x, start).y, "y");
}

TYPED_TEST(Recurrent, ACarriedStateContinuesTheSequence) {
  const Tensor x = this->some_input(3, 7);
  const Tensors halves = split(x, {3, 4}, 1);
  const Run whole = this->layer.run(x), first = this->layer.run(halves[0]);
  const Run second = this->layer.run(halves[1], first.state);
  expect_equal(concat({first.y, second.y}, 1), whole.y, "y");
  this->expect_all_equal(second.state, whole.state);
}

TYPED_TEST(Recurrent, ARowOfABatchIsThatRowAlone) {
  const Tensor x = this->some_input(3, 4);
  const Tensor alone = this->layer.run(slice(x, {range(1, 2)})).y;
  ASSERT_EQ(alone.shape(), (Shape{1, 4, hidden}));
  expect_equal(alone, slice(this->layer.run(x).y, {range(1, 2)}), "y");
}

TYPED_TEST(Recurrent, NoStepsLeaveTheStateAsItWas) {
  const Tensors start = this->random_state(2);
  const Run carried = this->layer.run(this->some_input(2, 0), start);
  EXPECT_EQ(carried.y.shape(), (Shape{2, 0, hidden}));
  EXPECT_EQ(carried.y.dtype(), f64);
  this->expect_all_equal(carried.state, start);
  this->expect_all_equal(this->layer.run(this->some_input(2, 0)).state, Tensors(TypeParam::states, zeros({2, hidden})));
  EXPECT_EQ(this->layer.run(this->some_input(0, 3)).y.shape(), (Shape{0, 3, hidden}));
}

TYPED_TEST(Recurrent, GradientsGoBackThroughAllSteps) {
  const Tensor x = this->some_input(2, 4);
  const auto last_state = [&](const auto&) { return concat(this->layer.run(x).state, 1); };
  const auto result = gradcheck(this->layer.layer, last_state, no_kink_between);
  EXPECT_TRUE(result.passed()) << result;
}

/// Constant inputs and states stay f64 if the weights are dual, and vice versa.
TYPED_TEST(Recurrent, GradientsBesideConstants) {
  const Tensor x = this->some_input(2, 4);
  const Tensors start = this->random_state(2);
  const auto of_weights = [&](const auto&) { return this->layer.run(x, start).y; };
  const auto weights = gradcheck(this->layer.layer, of_weights, no_kink_between);
  EXPECT_TRUE(weights.passed()) << weights;
  const auto inputs = gradcheck([&](const Tensor& v) { return this->layer.run(v).y; }, x, no_kink_between);
  EXPECT_TRUE(inputs.passed()) << inputs;
}

TYPED_TEST(Recurrent, TheSequenceIsItsComposedTwin) {
  const Tensor x = this->some_input(3, 4).watch(), u = this->random.normal({3, 4, hidden});
  const Tensors start = this->random_state(3), last = this->random_state(3);
  std::vector<Tensors> results;
  for (const bool expanded : {false, true}) {
    zero_grad(this->layer.layer), x.zero_grad();
    Tape tape({.expand_fused = expanded});
    const Run run = this->layer.run(x, start);
    Tensors outputs{run.y}, cotangents{u};
    outputs.insert(outputs.end(), run.state.begin(), run.state.end());
    cotangents.insert(cotangents.end(), last.begin(), last.end());
    EXPECT_EQ(tape.size() > 10, expanded);
    tape.backward(outputs, cotangents);
    outputs.push_back(x.grad());
    for (const NamedTensor& parameter : parameters(this->layer.layer)) outputs.push_back(parameter.tensor.grad());
    results.push_back(outputs);
  }
  this->expect_all_equal(results[0], results[1]);
}

TYPED_TEST(Recurrent, InSinglePrecisionItIsTheSameButForRounding) {
  const Tensor x = this->some_input(2, 5), in_doubles = this->layer.run(x).y;
  to(this->layer.layer, f32);
  const Tensor in_floats = this->layer.run(x.to(f32)).y;
  EXPECT_EQ(in_floats.dtype(), f32);
  expect_equal(in_floats, in_doubles, "y");
}

TYPED_TEST(Recurrent, WrongShapesNameTheModule) {
  const auto expect_message = [](auto call, const std::string& begin, const std::string& part) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown for " << part;
    } catch (const ShapeError& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(begin + ": ") && message.find(part) != std::string::npos) << message;
    }
  };
  const TypeParam& it = this->layer;
  const std::string name = TypeParam::name, cell = name + "Cell";
  const Tensors good = this->random_state(2), turned(TypeParam::states, zeros({hidden, 2}));
  expect_message([&] { it.run(zeros({2, 3})); }, name, "[2, 3] must be [batch, time, 3]");
  expect_message([&] { it.run(zeros({2, 4, 7})); }, name, "[2, 4, 7] must be [batch, time, 3]");
  expect_message([&] { it.run(zeros({2, 4, 3}), turned); }, name, "h[5, 2] must be [2, 5]");
  expect_message([&] { it.step(zeros({2, 4, 3}), good); }, cell, "[2, 4, 3] must be [batch, 3]");
  expect_message([&] { it.step(zeros({2, 5}), good); }, cell, "[2, 5] must be [batch, 3]");
  expect_message([&] { it.step(zeros({4, 3}), good); }, cell, "h[2, 5] must be [4, 5]");
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// One hidden unit, two inputs: small enough to write down.
TEST(RecurrentByHand, LstmCell) {
  const DtypeScope doubles(f64);
  Random random(2);
  const LstmCell cell(2, 1, random);
  assign(cell, {{"weight_ih", tensor({{0.1, 0.2}, {0.3, -0.4}, {-0.5, 0.6}, {0.7, 0.8}})},
                {"weight_hh", tensor({{0.9}, {-1}, {1.1}, {1.2}})},
                {"bias", tensor({0.01, 0.02, 0.03, 0.04})}});
  const LstmState next = cell(tensor({{2, -3}}), {tensor({{0.5}}), tensor({{-0.7}})});
  const double i = sigmoid_of(0.2 - 0.6 + 0.45 + 0.01), f = sigmoid_of(0.6 + 1.2 - 0.5 + 0.02);
  const double g = std::tanh(-1.0 - 1.8 + 0.55 + 0.03), o = sigmoid_of(1.4 - 2.4 + 0.6 + 0.04);
  const double c = f * -0.7 + i * g;
  EXPECT_NEAR(next.c.item(), c, 1e-14);
  EXPECT_NEAR(next.h.item(), o * std::tanh(c), 1e-14);
}

TEST(RecurrentByHand, GruCell) {
  const DtypeScope doubles(f64);
  Random random(3);
  const GruCell cell(2, 1, random);
  assign(cell, {{"weight_ih", tensor({{0.1, 0.2}, {0.3, -0.4}, {-0.5, 0.6}})},
                {"weight_hh", tensor({{0.9}, {-1}, {1.1}})},
                {"bias_ih", tensor({0.01, 0.02, 0.03})},
                {"bias_hh", tensor({0.04, 0.05, 0.06})}});
  const double r = sigmoid_of(0.2 - 0.6 + 0.01 + 0.45 + 0.04), z = sigmoid_of(0.6 + 1.2 + 0.02 - 0.5 + 0.05);
  const double n = std::tanh(-1.0 - 1.8 + 0.03 + r * (0.55 + 0.06));
  EXPECT_NEAR(cell(tensor({{2, -3}}), tensor({{0.5}})).item(), (1 - z) * n + z * 0.5, 1e-14);
}

TEST(RecurrentByHand, RnnCellOfBothActivations) {
  const DtypeScope doubles(f64);
  Random random(4);
  for (const Activation activation : {Activation::tanh, Activation::relu}) {
    const RnnCell cell(2, 1, random, activation);
    assign(cell, {{"weight_ih", tensor({{0.1, -0.2}})}, {"weight_hh", tensor({{0.9}})}, {"bias", tensor({0.01})}});
    const auto act = [&](double s) { return activation == Activation::tanh ? std::tanh(s) : std::max(s, 0.0); };
    EXPECT_NEAR(cell(tensor({{2, -3}}), tensor({{0.5}})).item(), act(0.2 + 0.6 + 0.45 + 0.01), 1e-14);
    EXPECT_NEAR(cell(tensor({{2, -3}}), tensor({{-5}})).item(), act(0.2 + 0.6 - 4.5 + 0.01), 1e-14);
  }
}

TEST(Rnn, TakesTanhOrRelu) {
  Random random(6);
  EXPECT_EQ(message_of([&] { Rnn(input, hidden, random, Activation::gelu); }),
            "Rnn: the activation must be tanh or relu; step an RnnCell for another");
  const RnnCell cell(input, hidden, random, Activation::gelu);
  const Tensor p = zeros({2, 3, hidden}), h = zeros({2, hidden});
  EXPECT_EQ(message_of([&] { rnn_sequence(p, h, cell.weight_hh, Activation::gelu); }),
            "rnn_sequence: the activation must be tanh or relu; take rnn_step for another");
  EXPECT_EQ(cell(zeros({2, input}), h).shape(), (Shape{2, hidden}));
}

/// A given cell state must be used even if h is not given.
TEST(Lstm, HalfAStateIsUsedOrRefused) {
  Random random(5);
  const Lstm lstm(input, hidden, random);
  const Tensor x = random.normal({2, 3, input}), c = random.normal({2, hidden});
  try {
    expect_equal(lstm(x, {.h = {}, .c = c}).y, lstm(x, {zeros({2, hidden}), c}).y, "c alone");
  } catch (const ShapeError&) {
  }
}

}  // namespace
}  // namespace retrace
