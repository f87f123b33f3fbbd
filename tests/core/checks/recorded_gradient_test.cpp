// gradient(f, x) on a tape: against closed forms, finite differences of gradients and hvp; what it leaves alone.
#include <gtest/gtest.h>

#include <cmath>

#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

// |d/dx sum tanh(x w)|^2, the core of a gradient penalty.
Tensor penalty(const Tensor& x, const Tensor& w) {
  return sum(square(gradient([&](const Tensor& v) { return sum(tanh(matmul(v, w))); }, x)));
}

double at(const Tensor& x, std::size_t k) { return x.values<double>()[k]; }

TEST(RecordedGradient, HasTheSecondDerivativesOfACube) {
  const Tensor x = parameter(tensor({2, -3}, f64)), a = parameter(full({}, 0.5, f64));
  Tape tape;
  const Tensor g = gradient([&](const Tensor& v) { return sum(a * v * v * v); }, x);  // 3 a x^2
  EXPECT_DOUBLE_EQ(at(g, 0), 6);
  EXPECT_DOUBLE_EQ(at(g, 1), 13.5);
  EXPECT_FALSE(a.has_grad());
  tape.backward(sum(g * g));
  EXPECT_DOUBLE_EQ(at(x.grad(), 0), 2 * 6 * 6);                 // 2 g 6 a x
  EXPECT_DOUBLE_EQ(at(x.grad(), 1), 2 * 13.5 * -9);             //
  EXPECT_DOUBLE_EQ(at(a.grad(), 0), 2 * (6 * 12 + 13.5 * 27));  // 2 g 3 x^2
}

TEST(RecordedGradient, PassesTheGradientCheckBehindAndBeforeOtherOps) {
  Random random(1);
  const Tensor x = random.normal({2, 3}, f64), w = random.normal({3, 4}, f64);
  const auto f = [](const Tensors& in) { return Tensors{penalty(sin(in[0]), in[1]) * in[0]}; };
  const GradcheckResult result = gradcheck(f, {x, w});
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.elements, 18);
}

TEST(RecordedGradient, OfSeveralTensorsHasAllMixedDerivatives) {
  Random random(2);
  const auto f = [](const Tensors& in) {
    const Tensors g = gradient([](const Tensors& v) { return sum(sin(v[0]) * exp(v[1]) * v[0]); }, in);
    return Tensors{g[0] * 2 + square(g[1])};
  };
  const GradcheckResult result = gradcheck(f, {random.normal({3}, f64), random.normal({3}, f64)});
  EXPECT_TRUE(result.passed()) << result;
}

TEST(RecordedGradient, IsThatOfLayersRecurrencesAndAttention) {
  Random random(3);
  const Tensor x = random.normal({2, 3, 4}, f64);
  const Lstm lstm(4, 3, random);
  const auto of_lstm = [&](const Lstm& m) {
    return sum(square(gradient([&](const Tensor& v) { return sum(square(m(v).y)); }, x)));
  };
  GradcheckResult result = gradcheck(lstm, of_lstm);
  EXPECT_TRUE(result.passed()) << result;
  const TransformerEncoderLayer layer(4, random, {.heads = 2, .dropout = 0});
  result = gradcheck(layer, [&](const TransformerEncoderLayer& m) {
    return sum(square(gradient([&](const Tensor& v) { return sum(sin(m(v))); }, x)));
  });
  EXPECT_TRUE(result.passed()) << result;
}

TEST(RecordedGradient, WithRespectToLeavesIsTheGradientOfAStepOfDescent) {
  Random random(4);
  const Linear model(3, 2, random);
  to(model, f64);
  const Tensor x = random.normal({4, 3}, f64), y = random.normal({4, 2}, f64);
  const auto loss = [&](const Linear& m) { return mean(square(tanh(m(x)) - y)); };
  // The loss after one step of descent, as in meta-learning.
  const auto after_a_step = [&](const Linear& m) {
    const Tensors g = gradient(m, loss);
    const Tensor weight = m.weight - 0.5 * g[0], bias = *m.bias - 0.5 * g[1];
    return mean(square(tanh(linear(x, weight, bias)) - y));
  };
  const GradcheckResult result = gradcheck(model, after_a_step);
  EXPECT_TRUE(result.passed()) << result;
}

TEST(RecordedGradient, LeavesOtherGradientsAsTheyWere) {
  const Tensor w = parameter(tensor({{1, 2}, {3, 4}}, f64)), x = tensor({{0.1, 0.2}}, f64);
  {
    Tape tape;
    tape.backward(sum(w * 5));
  }
  gradient([&](const Tensor& v) { return sum(tanh(matmul(v, w))); }, x);
  EXPECT_EQ(at(w.grad(), 3), 5);
  Tape tape;
  tape.backward(penalty(x, w));  // adds to the gradient that was there
  Tape second;
  const double added = at(w.grad(), 3) - 5;
  w.zero_grad();
  second.backward(penalty(x, w));
  EXPECT_NEAR(at(w.grad(), 3), added, 1e-14);
  EXPECT_EQ(w.dtype(), f64);
  EXPECT_EQ(at(w, 3), 4);
}

TEST(RecordedGradient, TrainsACriticInF32WithConstantsInItsFunction) {
  Random random(5);
  const Mlp critic({2, 8, 1}, random, {.activation = Activation::tanh});
  const Tensor x = random.normal({16, 2}), weights_of_samples = random.uniform({16, 1}, 0.5, 1.5);
  Adam adam(critic, {.lr = 1e-2, .allow_missing = true});  // the last bias has none
  double first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    Tape tape;
    const Tensor g = gradient([&](const Tensor& v) { return sum(critic(v) * weights_of_samples); }, x);
    EXPECT_EQ(g.dtype(), f32);
    const Tensor distance = sqrt(sum(square(g), {1}) + 1e-12) - 1;
    const Tensor loss = mean(square(distance));
    tape.backward(loss);
    adam.step();
    (step == 0 ? first : last) = loss.item();
  }
  EXPECT_LT(last, 0.2 * first);
}

TEST(RecordedGradient, OfAConstantIsZeroAndNeedsNoTape) {
  const Tensor x = tensor({1, 2}, f64);
  const Tensor g = gradient([](const Tensor&) { return full({}, 3, f64); }, x);
  EXPECT_EQ(at(g, 0), 0);
  EXPECT_EQ(g.shape(), x.shape());
}

TEST(RecordedGradient, SaysWhatItCannotDo) {
  const Tensor x = parameter(tensor({1, 2}, f64));
  expect_words<ShapeError>([&] { gradient([](const Tensor& v) { return v * 2; }, x); }, {"gradient: f gave [2]"});
  const Tape tape;
  const Tensor h = x * 3;
  expect_words<TapeError>([&] { gradient([&](const Tensor& v) { return sum(v * h); }, x); },
                          {"make that tensor one of those that f is differentiated by"});
  const auto quartic = [](const Tensor& v) {
    return sum(gradient([](const Tensor& u) { return sum(u * u * u * u); }, v));
  };
  expect_words<DtypeError>([&] { hvp(quartic, x, ones({2}, f64)); }, {"the third derivative of f"});
  const auto of_x = [&] { return sum(x); };
  expect_words<ValueError>([&] { gradient(of_x, Tensors{x, x}); }, {"leaves 0 and 1 are one tensor"});
  expect_words<ValueError>([&] { gradient(of_x, Tensors{h}); }, {"is no leaf that wants a gradient"});
}

TEST(RecordedGradient, RefusesValuesThatChangedBeforeTheBackward) {
  const Tensor w = parameter(tensor({{1.0}, {2.0}}, f64)), x = parameter(tensor({{0.5, 0.25}}, f64));
  Tape tape;
  const Tensor loss = penalty(x, w);
  w.mutable_values<double>()[0] = 7;
  EXPECT_THROW(tape.backward(loss), TapeError);
}

}  // namespace
}  // namespace retrace
