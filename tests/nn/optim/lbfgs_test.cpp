// L-BFGS on functions whose minimum is known.
#include <retrace/nn/optim/lbfgs.h>

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

/// Its minimum is 0 where all are 1, at the end of a curved valley.
Tensor rosenbrock(const Tensor& w) {
  const Tensor head = slice(w, {range(0, -1)}), tail = slice(w, {range(1)});
  return sum(square(tail - square(head)) * 100 + square(1 - head));
}

TEST(Lbfgs, FollowsACurvedValleyToItsEnd) {
  const Parameter w(tensor({-1.2, 1.0, -1.2, 1.0, 0.5, -2.0}, f64));
  const std::vector<NamedTensor> weights{{"w", w}};
  const LbfgsResult found = lbfgs(weights, [&] { return rosenbrock(w); }, {.gradient_tolerance = 1e-10});
  EXPECT_TRUE(found.converged);
  EXPECT_LT(found.loss, 1e-18);
  EXPECT_LT(found.iterations, 80);
  EXPECT_LT(found.evaluations, 120);
  for (const double value : w.values<double>()) EXPECT_NEAR(value, 1, 1e-8);
  EXPECT_EQ(found.loss, rosenbrock(w).item()) << "the weights are those of the loss";
}

TEST(Lbfgs, EndsAtOnceInAMinimum) {
  const Parameter w(tensor({1.0, 1.0, 1.0}, f64));
  const LbfgsResult found = lbfgs(std::vector<NamedTensor>{{"w", w}}, [&] { return rosenbrock(w); });
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.iterations, 0);
  EXPECT_EQ(found.evaluations, 1);
}

TEST(Lbfgs, GoesOnWhileAnySlopeIsLarge) {
  const Parameter w(tensor({3.0, 0.0}, f64));
  const LbfgsResult found = lbfgs(std::vector<NamedTensor>{{"w", w}}, [&] { return sum(square(w)); });
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(w.at({0}), 0, 1e-6);
}

/// The first step is too long; the cubic through its ends is then the function itself.
TEST(Lbfgs, FindsTheMinimumOfACubicByItsFirstInterpolation) {
  for (const double side : {1.0, -1.0}) {
    const Parameter w(tensor({side * 2.35}, f64));
    const LbfgsResult found =
        lbfgs(std::vector<NamedTensor>{{"w", w}}, [&] { return sum(w * w * w / 3 - 4 * w) * side; }, {});
    EXPECT_EQ(found.evaluations, 3);
    EXPECT_NEAR(w.item(), side * 2, 1e-12);
  }
}

/// With features of sizes from 0.1 to 100, which gradient descent would take a million steps for.
TEST(Lbfgs, SolvesLeastSquares) {
  Random random(2);
  const Tensor x = random.normal({40, 6}, 0, 1, f64) * tensor({1.0, 10.0, 100.0, 0.1, 1.0, 3.0}, f64);
  const Tensor truth = random.normal({1, 6}, 0, 1, f64);
  const Linear linear(6, 1, random);
  to(linear, f64);
  const Tensor target = matmul(x, truth, {.transpose_b = true}) + 0.5;
  const LbfgsResult found = lbfgs(linear, [&] { return mean(square(linear(x) - target)); },
                                  {.gradient_tolerance = 1e-9, .loss_tolerance = 0});
  EXPECT_TRUE(found.converged);
  EXPECT_LT(found.iterations, 120);
  for (std::int64_t k = 0; k < 6; ++k) EXPECT_NEAR(linear.weight.at({0, k}), truth.at({0, k}), 1e-7);
  EXPECT_NEAR(linear.bias->at({0}), 0.5, 1e-7);
}

TEST(Lbfgs, TrainsInF32) {
  Random random(4);
  const Tensor x = random.normal({64, 3});
  const Tensor target = sin(sum(x, {1}, {.keepdims = true}));
  const Mlp net({3, 16, 1}, random);
  const auto loss = [&] { return mean(square(net(x) - target)); };
  const double before = loss().item();
  EXPECT_LT(lbfgs(net, loss, {.max_iterations = 200}).loss, before / 100);
}

TEST(Lbfgs, NeverEndsHigherThanItBegan) {
  for (const double start : {-3.0, -0.1, 0.1, 2.0, 50.0}) {
    const Parameter w(tensor({start}, f64));
    const auto loss = [&] { return sum(log(square(w) + 1e-3) + exp(-w * 0.1)); };
    const double before = loss().item();
    EXPECT_LE(lbfgs(std::vector<NamedTensor>{{"w", w}}, loss).loss, before) << start;
  }
}

/// A step may lead to where the loss is no number.
TEST(Lbfgs, TurnsBackFromTheEdgeOfADomain) {
  const Parameter w(tensor({0.01}, f64));
  const LbfgsResult found = lbfgs(std::vector<NamedTensor>{{"w", w}}, [&] { return sum(w - log(w)); });
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(w.item(), 1, 1e-5);
}

TEST(Lbfgs, LeavesFrozenParametersAlone) {
  const Parameter w(tensor({3.0}, f64)), frozen(tensor({2.0}, f64));
  frozen.freeze();
  lbfgs(std::vector<NamedTensor>{{"w", w}, {"frozen", frozen}}, [&] { return sum(square(w - frozen)); });
  EXPECT_NEAR(w.item(), 2, 1e-8);
  EXPECT_EQ(frozen.item(), 2);
}

TEST(Lbfgs, TakesTiedParametersForOne) {
  const Parameter w(tensor({3.0}, f64));
  const LbfgsResult found = lbfgs(std::vector<NamedTensor>{{"w", w}, {"tied", w}}, [&] { return sum(square(w - 1)); });
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(w.item(), 1, 1e-8);
}

/// The square of a norm need not be a number.
TEST(Lbfgs, StartsWhereTheGradientIsHuge) {
  const Parameter w(tensor({3.0}, f64));
  const LbfgsResult found = lbfgs(std::vector<NamedTensor>{{"w", w}}, [&] { return sum(square(w - 1)) * 1e160; });
  EXPECT_FALSE(found.converged && found.iterations == 0);
}

TEST(Lbfgs, RefusesAStartThatIsNotFinite) {
  const Parameter w(tensor({-1.0}, f64));
  expect_error<ValueError>(
      [&] {
        lbfgs(std::vector<NamedTensor>{{"w", w}}, [&] { return sum(log(w)); });
      },
      "lbfgs: the loss at the start has to be finite, with its gradient, but it is nan; start from other weights");
  EXPECT_EQ(w.item(), -1);
}

TEST(Lbfgs, KeepsTheBestWeightsIfTheLossThrows) {
  const Parameter w(tensor({-1.2, 1.0}, f64));
  const double before = rosenbrock(w).item();
  int calls = 0;
  const auto loss = [&] {
    if (++calls == 9) throw std::runtime_error("no more");
    return rosenbrock(w);
  };
  EXPECT_THROW(lbfgs(std::vector<NamedTensor>{{"w", w}}, loss), std::runtime_error);
  EXPECT_LT(rosenbrock(w).item(), before);
}

}  // namespace
}  // namespace retrace
