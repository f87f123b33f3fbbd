// Optimisers against their formulas in plain doubles; the treatment of gradients by a step; clipping.
#include <retrace/nn/optim/optimizers.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

struct Weights {
  Parameter matrix, row, scalar;
  explicit Weights(Random& random, Dtype dtype = f64)
      : matrix(random.uniform({2, 3}, 0.5, 1.5, dtype)),
        row(random.uniform({4}, -1.5, -0.5, dtype)),
        scalar(random.uniform({}, 0.5, 1.5, dtype)) {}
  void visit(auto&& see) const { see("matrix", matrix), see("row", row), see("scalar", scalar); }
};

/// Adds the cotangents to the gradients of the parameters.
void backward(const Tensors& weights, const Tensors& gradients) {
  Tape tape;
  Tensors outputs;
  for (const Tensor& w : weights) outputs.push_back(identity(w));
  tape.backward(outputs, gradients);
}

/// The state of a formula for one scalar.
struct Memory {
  double a = 0, b = 0, c = 0;
};
using Rule = std::function<void(double& w, double g, Memory& memory, double lr, int t)>;

/// Some steps on three parameters, with gradients that shrink and grow, and a changing learning rate.
template <class AnyOptimizer, class Options>
void expect_formula(const char* name, const Options& options, const Rule& rule, int steps = 5) {
  Random random(3);
  const Weights weights(random);
  AnyOptimizer optimizer(weights, options);
  const Tensors tensors{weights.matrix, weights.row, weights.scalar};
  std::vector<std::vector<double>> want;
  for (const Tensor& w : tensors) want.emplace_back(w.values<double>().begin(), w.values<double>().end());
  std::vector<std::array<Memory, 6>> memories(tensors.size());
  constexpr std::array<double, 5> sizes{1, 3, 0.2, 0.05, 2};
  for (int t = 1; t <= steps; ++t) {
    const double lr = t < 4 ? options.lr : options.lr / 2, size = sizes[static_cast<std::size_t>((t - 1) % 5)];
    if (t == 4) optimizer.set_learning_rate(lr);
    Tensors gradients;
    for (const Tensor& w : tensors) gradients.push_back(random.normal(w.shape(), 0, size, f64));
    backward(tensors, gradients);
    optimizer.step();
    for (std::size_t p = 0; p < tensors.size(); ++p)
      for (std::size_t k = 0; k < want[p].size(); ++k) {
        double& w = want[p][k];
        rule(w, gradients[p].values<double>()[k], memories[p][k], lr, t);
        EXPECT_NEAR(tensors[p].values<double>()[k], w, 1e-14 * std::max(1, t / 5) * std::abs(w))
            << name << ", parameter " << p << ", step " << t;
      }
  }
  EXPECT_EQ(optimizer.steps(), steps);
}

TEST(Optimizers, SgdIsItsFormula) {
  const auto check = [](const char* name, const SgdOptions& o) {
    expect_formula<Sgd>(name, o, [o](double& w, double g, Memory& v, double lr, int) {
      g += o.weight_decay * w;
      v.a = o.momentum * v.a + (o.lr_inside ? -lr * g : g);
      w += o.lr_inside ? v.a : o.nesterov ? -lr * (g + o.momentum * v.a) : -lr * v.a;
    });
  };
  check("plain", {.lr = 0.03});
  check("weight decay", {.lr = 0.03, .weight_decay = 0.1});
  check("momentum", {.lr = 0.02, .momentum = 0.8});
  check("momentum, weight decay", {.lr = 0.02, .momentum = 0.8, .weight_decay = 0.1});
  check("nesterov", {.lr = 0.02, .momentum = 0.8, .weight_decay = 0.1, .nesterov = true});
  check("lr inside", {.lr = 0.02, .momentum = 0.8, .weight_decay = 0.1, .lr_inside = true});
  check("lr inside, no momentum", {.lr = 0.02, .lr_inside = true});
}

TEST(Optimizers, RmsPropIsItsFormula) {
  const auto check = [](const char* name, const RmsPropOptions& o) {
    expect_formula<RmsProp>(name, o, [o](double& w, double g, Memory& m, double lr, int) {
      g += o.weight_decay * w;
      m.a = o.alpha * m.a + (1 - o.alpha) * g * g;
      m.b = o.centered ? o.alpha * m.b + (1 - o.alpha) * g : 0;
      m.c = o.momentum * m.c + g / (std::sqrt(m.a - m.b * m.b) + o.eps);
      w -= lr * m.c;
    });
  };
  check("plain", {.lr = 0.01, .alpha = 0.9, .eps = 1e-2});
  check("momentum", {.lr = 0.01, .alpha = 0.9, .eps = 1e-2, .momentum = 0.7});
  check("centered", {.lr = 0.01, .alpha = 0.9, .eps = 1e-2, .centered = true});
  check("weight decay", {.lr = 0.01, .alpha = 0.9, .eps = 1e-2, .weight_decay = 0.2, .centered = true});
  check("centered, momentum", {.lr = 0.01, .alpha = 0.8, .eps = 1e-2, .momentum = 0.7, .centered = true});
}

TEST(Optimizers, AdagradIsItsFormula) {
  for (const double weight_decay : {0.0, 0.2}) {
    const AdagradOptions o{.lr = 0.05, .eps = 1e-2, .weight_decay = weight_decay};
    expect_formula<Adagrad>("adagrad", o, [o](double& w, double g, Memory& m, double lr, int) {
      g += o.weight_decay * w;
      m.a += g * g;
      w -= lr * g / (std::sqrt(m.a) + o.eps);
    });
  }
}

/// eps is large enough to show where in the formula it is added.
TEST(Optimizers, AdamAndAdamWAreTheirFormulas) {
  const auto rule = [](const AdamOptions& o, bool decoupled) -> Rule {
    return [o, decoupled](double& w, double g, Memory& m, double lr, int t) {
      if (decoupled)
        w *= 1 - lr * o.weight_decay;
      else
        g += o.weight_decay * w;
      m.a = o.b1 * m.a + (1 - o.b1) * g;
      m.b = o.b2 * m.b + (1 - o.b2) * g * g;
      m.c = std::max(m.b, m.c);
      const double v = o.amsgrad ? m.c : m.b;
      w -= lr * (m.a / (1 - std::pow(o.b1, t))) / (std::sqrt(v / (1 - std::pow(o.b2, t))) + o.eps);
    };
  };
  const AdamOptions plain{.lr = 0.02, .b1 = 0.8, .b2 = 0.7, .eps = 1e-2};
  AdamOptions decay = plain, amsgrad = plain, both = plain;
  decay.weight_decay = both.weight_decay = 0.2;
  amsgrad.amsgrad = both.amsgrad = true;
  for (const AdamOptions& o : {plain, decay, amsgrad, both}) {
    expect_formula<Adam>(o.amsgrad ? "Adam, amsgrad" : "Adam", o, rule(o, false));
    expect_formula<AdamW>(o.amsgrad ? "AdamW, amsgrad" : "AdamW", o, rule(o, true));
  }
}

TEST(Optimizers, NAdamIsItsFormula) {
  for (const double weight_decay : {0.0, 0.2}) {
    const NAdamOptions o{
        .lr = 0.02, .b1 = 0.8, .b2 = 0.7, .eps = 1e-2, .weight_decay = weight_decay, .momentum_decay = 0.3};
    const auto rule = [o](double& w, double g, Memory& m, double lr, int t) {
      const auto momentum = [&](int step) { return o.b1 * (1 - 0.5 * std::pow(0.96, step * o.momentum_decay)); };
      g += o.weight_decay * w;
      m.a = o.b1 * m.a + (1 - o.b1) * g;
      m.b = o.b2 * m.b + (1 - o.b2) * g * g;
      m.c = (t == 1 ? 1 : m.c) * momentum(t);  // the product so far
      const double ahead = momentum(t + 1) * m.a / (1 - m.c * momentum(t + 1));
      const double root = std::sqrt(m.b / (1 - std::pow(o.b2, t)));
      w -= lr * (ahead + (1 - momentum(t)) * g / (1 - m.c)) / (root + o.eps);
    };
    expect_formula<NAdam>("NAdam", o, rule, 12);
  }
}

/// So many steps that the variance is told by enough gradients, and with a b2 for which it never is.
TEST(Optimizers, RAdamIsItsFormula) {
  for (const double b2 : {0.9, 0.6}) {
    const RAdamOptions o{.lr = 0.02, .b1 = 0.8, .b2 = b2, .eps = 1e-2, .weight_decay = 0.2};
    int rectified = 0;
    const auto rule = [&](double& w, double g, Memory& m, double lr, int t) {
      g += o.weight_decay * w;
      m.a = o.b1 * m.a + (1 - o.b1) * g;
      m.b = o.b2 * m.b + (1 - o.b2) * g * g;
      const double power = std::pow(o.b2, t), all = 2 / (1 - o.b2) - 1, n = all - 2 * t * power / (1 - power);
      const double step = lr * m.a / (1 - std::pow(o.b1, t));
      if (n <= 5) return static_cast<void>(w -= step);
      ++rectified;
      const double r = std::sqrt((n - 4) * (n - 2) * all / ((all - 4) * (all - 2) * n));
      w -= step * r * std::sqrt(1 - power) / (std::sqrt(m.b) + o.eps);
    };
    expect_formula<RAdam>("RAdam", o, rule, 12);
    EXPECT_EQ(rectified > 0, b2 == 0.9);
  }
}

TEST(Optimizers, LionIsItsFormula) {
  const auto check = [](const char* name, const LionOptions& o) {
    expect_formula<Lion>(name, o, [o](double& w, double g, Memory& m, double lr, int) {
      const double direction = o.b1 * m.a + (1 - o.b1) * g;
      w -= lr * ((direction > 0 ? 1 : -1) + o.weight_decay * w);
      m.a = o.b2 * m.a + (1 - o.b2) * g;
    });
  };
  check("plain", {.lr = 0.02});
  check("weight decay", {.lr = 0.02, .b1 = 0.6, .b2 = 0.8, .weight_decay = 0.5});
}

TEST(Optimizers, LionByHand) {
  const Parameter w(tensor({1.0, 1.0, 1.0}, f64));
  Lion lion(std::vector<NamedTensor>{{"w", w}}, {.lr = 0.25, .b1 = 0.5, .b2 = 0.75, .allow_nonfinite = true});
  backward({w}, {tensor({4.0, 0.0, -8.0}, f64)});  // m = 0, so the direction is g / 2; then m = g / 4
  lion.step();
  EXPECT_EQ(w.at({0}), 0.75);
  EXPECT_EQ(w.at({1}), 1) << "the sign of 0 is 0";
  EXPECT_EQ(w.at({2}), 1.25);
  backward({w}, {tensor({-0.5, nan, 4.0}, f64)});  // (1 - 0.5) / 2 > 0, but (-2 + 4) / 2 > 0
  lion.step();
  EXPECT_EQ(w.at({0}), 0.5) << "the average so far outweighs the gradient";
  EXPECT_TRUE(std::isnan(w.at({1})));
  EXPECT_EQ(w.at({2}), 1);
}

/// With a constant gradient, s - a^2 is 0 up to rounding, and must not become negative.
TEST(Optimizers, CenteredRmsPropStaysFiniteUnderAConstantGradient) {
  const Parameter w(full({5}, 1, f64));
  RmsProp optimizer(std::vector<NamedTensor>{{"w", w}}, {.lr = 1e-6, .alpha = 0.5, .centered = true});
  for (int step = 0; step < 100; ++step) {
    backward({w}, {tensor({0.1, 0.3, 0.7, 1.1, 12.3}, f64)});
    optimizer.step();
  }
  for (const double value : w.values<double>()) EXPECT_TRUE(std::isfinite(value));
}

/// The clamp at 0 must not hide a NaN.
TEST(Optimizers, CenteredRmsPropPassesANaNOn) {
  const Parameter w(ones({2}, f64));
  RmsProp optimizer(std::vector<NamedTensor>{{"w", w}}, {.centered = true, .allow_nonfinite = true});
  backward({w}, {tensor({nan, 1.0}, f64)});
  optimizer.step();
  EXPECT_TRUE(std::isnan(w.at({0})));
  EXPECT_TRUE(std::isfinite(w.at({1})));
}

TEST(Optimizers, GroupsHaveTheirOwnOptions) {
  const Parameter a(tensor({1.0}, f64)), b(tensor({1.0}, f64));
  Sgd sgd({{{{"a", a}}, {.lr = 0.5}}, {{{"b", b}}, {.lr = 0.25, .weight_decay = 1}}});
  backward({a, b}, {tensor({1.0}, f64), tensor({1.0}, f64)});
  sgd.step();
  EXPECT_EQ(a.at({0}), 0.5);
  EXPECT_EQ(b.at({0}), 0.5);
}

TEST(Optimizers, AMissingGradientIsNamedAndNothingMoves) {
  Random random(4);
  const Weights weights(random), before = clone(weights);
  Adam adam(weights, {.lr = 0.1});
  backward({weights.matrix, weights.scalar}, {ones({2, 3}, f64), ones({}, f64)});
  expect_error<TapeError>([&] { adam.step(); },
                          "step: parameter row [4] has no gradient since the last step; call backward on a loss that "
                          "depends on it, or set allow_missing");
  EXPECT_EQ(weights_hash(weights), weights_hash(before));
  EXPECT_EQ(adam.steps(), 0);
  backward({weights.row}, {ones({4}, f64)});
  adam.step();  // the earlier gradients are still fresh
  EXPECT_NE(weights.matrix.at({0, 0}), before.matrix.at({0, 0}));
}

/// The parameter of the other dtype is the last one; those before it must be unchanged.
TEST(Optimizers, AParameterOfAnotherDtypeThanItsStateIsNamedAndNothingMoves) {
  const Parameter b(ones({1})), w(ones({2, 3}));
  Adam adam(std::vector<NamedTensor>{{"b", b}, {"w", w}});
  Sgd stateless(std::vector<NamedTensor>{{"w", w}}, {.lr = 1});
  convert({{"w", w}}, f64);
  backward({b, w}, {ones({1}), ones({2, 3}, f64)});
  expect_error<DtypeError>([&] { adam.step(); },
                           "step: parameter w [2, 3] is f64, but the optimiser's state is f32; make the optimiser "
                           "after converting the model");
  EXPECT_EQ(b.at({0}), 1);
  EXPECT_EQ(adam.steps(), 0);
  stateless.step();  // has no state whose dtype could differ
  EXPECT_EQ(w.at({1, 2}), 0);
}

template <class AnyOptimizer, class Options> void expect_nonfinite_refused(Options options) {
  for (const double bad : {nan, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()})
    for (const Dtype dtype : {f32, f64}) {
      Random random(4);
      const Weights weights(random, dtype), before = clone(weights);
      options.allow_nonfinite = false;
      AnyOptimizer optimizer(weights, options);
      const Tensor spoilt = ones({4}, dtype);
      dispatch_real(dtype, "test", [&](auto zero) {
        using T = decltype(zero);
        spoilt.mutable_values<T>()[2] = static_cast<T>(bad);
      });
      backward({weights.matrix, weights.row, weights.scalar}, {ones({2, 3}, dtype), spoilt, ones({}, dtype)});
      expect_error<ValueError>([&] { optimizer.step(); },
                               text("step: the gradient of parameter row [4] is ", bad,
                                    " at [2]; Tape({.check_finite = true}) finds the op where it begins, zero_grad "
                                    "skips this step, and allow_nonfinite takes it"));
      EXPECT_EQ(weights_hash(weights), weights_hash(before)) << "the parameters before the bad one must not have moved";
      for (const OptimizerSlot& slot : optimizer.slots())
        for (const NamedTensor& state : slot.state)
          EXPECT_TRUE(same_bits(state.tensor, zeros_like(state.tensor))) << state.name;
      EXPECT_EQ(optimizer.steps(), 0);
      zero_grad(weights);
      backward({weights.matrix, weights.row, weights.scalar}, {ones({2, 3}, dtype), ones({4}, dtype), ones({}, dtype)});
      optimizer.step();
      EXPECT_TRUE(std::isfinite(weights.row.at({2})));
    }
}

TEST(Optimizers, AGradientThatIsNotFiniteIsNamedAndNothingMoves) {
  expect_nonfinite_refused<Sgd>(SgdOptions{.momentum = 0.5});
  expect_nonfinite_refused<RmsProp>(RmsPropOptions{});
  expect_nonfinite_refused<Adagrad>(AdagradOptions{});
  expect_nonfinite_refused<Adam>(AdamOptions{.amsgrad = true});
  expect_nonfinite_refused<AdamW>(AdamOptions{});
  expect_nonfinite_refused<NAdam>(NAdamOptions{});
  expect_nonfinite_refused<RAdam>(RAdamOptions{});
  expect_nonfinite_refused<Lion>(LionOptions{});
  expect_nonfinite_refused<Adafactor>(AdafactorOptions{});
}

TEST(Optimizers, TheFirstElementThatIsNotFiniteIsNamedByItsIndex) {
  const Parameter w(zeros({3, 50}));
  Adam adam(std::vector<NamedTensor>{{"w", w}});
  const Tensor gradient = zeros({3, 50});
  gradient.mutable_values<float>()[107] = gradient.mutable_values<float>()[149] = static_cast<float>(nan);
  backward({w}, {gradient});
  expect_error<ValueError>([&] { adam.step(); },
                           "step: the gradient of parameter w [3, 50] is nan at [2, 7]; Tape({.check_finite = true}) "
                           "finds the op where it begins, zero_grad skips this step, and allow_nonfinite takes it");
}

TEST(Optimizers, AllowNonfiniteTakesAnyGradient) {
  const Parameter w(ones({2}, f64));
  Sgd sgd(std::vector<NamedTensor>{{"w", w}}, {.lr = 1, .allow_nonfinite = true});
  backward({w}, {tensor({nan, 1.0}, f64)});
  sgd.step();
  EXPECT_TRUE(std::isnan(w.at({0})));
  EXPECT_EQ(w.at({1}), 0);
}

TEST(Optimizers, AllowMissingLeavesAloneWhatHasNoGradient) {
  Random random(5);
  const Weights weights(random), before = clone(weights);
  Adam adam(weights, {.lr = 0.1, .weight_decay = 0.1, .allow_missing = true});
  backward({weights.matrix}, {ones({2, 3}, f64)});
  adam.step();
  adam.step();  // no fresh gradient
  EXPECT_NEAR(weights.matrix.at({1, 2}), before.matrix.at({1, 2}) - 0.1, 1e-7);
  EXPECT_EQ(weights.row.at({3}), before.row.at({3}));
  EXPECT_EQ(weights.scalar.item(), before.scalar.item());
}

TEST(Optimizers, AStepUsesGradientsUpAndTheNextBackwardOverwritesThem) {
  const Parameter w(tensor({1.0}, f64));
  Sgd sgd(std::vector<NamedTensor>{{"w", w}}, {.lr = 1});
  backward({w}, {tensor({2.0}, f64)});
  backward({w}, {tensor({3.0}, f64)});  // gradients accumulate until the step
  sgd.step();
  EXPECT_EQ(w.at({0}), -4);
  EXPECT_EQ(w.grad().at({0}), 5) << "it can be read until the next backward";
  EXPECT_EQ(clip_norm({w}, 1), 0) << "a gradient that was used up is none";
  EXPECT_THROW(sgd.step(), TapeError);
  EXPECT_EQ(w.at({0}), -4);
  backward({w}, {tensor({7.0}, f64)});
  EXPECT_EQ(w.grad().at({0}), 7);
  sgd.step();
  EXPECT_EQ(w.at({0}), -11);
}

TEST(Clipping, NormScalesAllGradientsTogether) {
  Random random(6);
  const Weights weights(random);
  const Tensors all_weights{weights.matrix, weights.row, weights.scalar};
  const Tensor sixes = full({2, 3}, 6, f64), threes = full({4}, 3, f64), two = full({}, 2, f64);
  backward(all_weights, {sixes, threes, two});
  const double norm_before = std::sqrt(6 * 36 + 4 * 9 + 4);  // 16
  EXPECT_EQ(clip_norm(weights, 17), norm_before);
  EXPECT_EQ(clip_norm(weights, 16), norm_before);
  EXPECT_EQ(weights.matrix.grad().at({1, 2}), 6) << "within the bound no bit changes";
  EXPECT_EQ(clip_norm(weights, 4), norm_before);
  EXPECT_EQ(weights.matrix.grad().at({0, 0}), 1.5);
  EXPECT_EQ(weights.row.grad().at({3}), 0.75);
  EXPECT_EQ(weights.scalar.grad().item(), 0.5);
  EXPECT_EQ(sixes.at({0, 0}), 6) << "the cotangent is the caller's";
  EXPECT_DOUBLE_EQ(clip_norm(all_weights, 1, ClipRule::with_epsilon), 4);
  EXPECT_DOUBLE_EQ(weights.row.grad().at({0}), 0.75 / (4 + 1e-6));
  EXPECT_THROW(clip_norm(weights, 0), ValueError);
}

TEST(Clipping, AHandleThatWasTakenBeforeKeepsTheGradientAsItWas) {
  const Parameter w(zeros({2}, f64));
  backward({w}, {tensor({3, 4}, f64)});
  const Tensor before_norm = w.grad();
  clip_norm({w}, 1);
  const Tensor before_value = w.grad();
  clip_value({w}, 0.7);
  EXPECT_EQ(before_norm.at({1}), 4);
  EXPECT_DOUBLE_EQ(before_value.at({1}), 0.8);
  EXPECT_DOUBLE_EQ(w.grad().at({1}), 0.7);
  EXPECT_DOUBLE_EQ(w.grad().at({0}), 0.6);
}

/// A sum passes one buffer to both inputs, which must not be scaled twice.
TEST(Clipping, GradientsThatShareABufferAreScaledOnce) {
  const Parameter a(ones({2}, f64)), b(ones({2}, f64));
  Tape tape;
  const Tensor y = a + b;
  tape.backward({y}, {tensor({3, 4}, f64)});
  EXPECT_DOUBLE_EQ(clip_norm({a, b}, 1), std::sqrt(50));
  for (const Parameter* x : {&a, &b}) EXPECT_DOUBLE_EQ(x->grad().at({1}), 4 / std::sqrt(50));
  EXPECT_EQ(y.grad().at({1}), 4);
}

TEST(Clipping, ValueBoundsEveryElement) {
  const Parameter w(zeros({4}, f64));
  backward({w}, {tensor({-3, -0.25, 0.5, 9}, f64)});
  clip_value({w}, 0.5);
  EXPECT_EQ(w.grad().at({0}), -0.5);
  EXPECT_EQ(w.grad().at({1}), -0.25);
  EXPECT_EQ(w.grad().at({2}), 0.5);
  EXPECT_EQ(w.grad().at({3}), 0.5);
  EXPECT_THROW(clip_value({w}, -1), ValueError);
}

}  // namespace
}  // namespace retrace
