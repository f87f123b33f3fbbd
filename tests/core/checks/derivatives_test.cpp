// Derivatives as functions: against closed forms, for constants, and without side effects.
#include <retrace/core/checks/derivatives.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <retrace/ops/ops.h>

namespace retrace {
namespace {

// y = (a^2 b, sin a + e^b) at (0.7, -0.4), and z = sin(a) e^b.
constexpr double a = 0.7, b = -0.4;
Tensor point() { return tensor({a, b}, f64); }
Tensor two_numbers(const Tensor& x) { return stack({square(x[0]) * x[1], sin(x[0]) + exp(x[1])}); }
Tensor one_number(const Tensor& x) { return sin(x[0]) * exp(x[1]); }

void expect_numbers(const Tensor& got, const Shape& shape, const std::vector<double>& wanted, double error = 1e-14) {
  EXPECT_EQ(got.dtype(), f64);
  ASSERT_EQ(got.shape(), shape);
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(got.values<double>()[k], wanted[k], error) << k;
}

TEST(Derivatives, AgreeWithClosedForms) {
  const double s = std::sin(a) * std::exp(b), c = std::cos(a) * std::exp(b);
  const Tensor v = tensor({2, -3}, f64);
  expect_numbers(jacobian(two_numbers, point()), {2, 2}, {2 * a * b, a * a, std::cos(a), std::exp(b)});
  expect_numbers(jvp(two_numbers, point(), v), {2}, {4 * a * b - 3 * a * a, 2 * std::cos(a) - 3 * std::exp(b)});
  expect_numbers(vjp(two_numbers, point(), v), {2}, {4 * a * b - 3 * std::cos(a), 2 * a * a - 3 * std::exp(b)});
  expect_numbers(hvp(one_number, point(), v), {2}, {-2 * s - 3 * c, 2 * c - 3 * s});
  expect_numbers(numerical_gradient(one_number, point()), {2}, {c, s}, 1e-9);
}

TEST(Derivatives, OfAConstantAreZero) {
  const auto constant = [](const Tensor&) { return tensor({1, 2, 3}, f64); };
  const auto five = [](const Tensor&) { return full({}, 5, f64); };
  const Tensor v = ones({2}, f64);
  expect_numbers(jacobian(constant, point()), {3, 2}, {0, 0, 0, 0, 0, 0});
  expect_numbers(jvp(constant, point(), v), {3}, {0, 0, 0});
  expect_numbers(vjp(constant, point(), ones({3}, f64)), {2}, {0, 0});
  expect_numbers(hvp(five, point(), v), {2}, {0, 0});
  expect_numbers(numerical_gradient(five, point()), {2}, {0, 0});
}

TEST(Derivatives, LeaveTheirPointAndAnOuterTapeAsTheyWere) {
  const Tensor x = parameter(point());
  Tape tape;
  const Tensor v = ones({2}, f64);
  jacobian(two_numbers, x);
  jvp(two_numbers, x, v);
  vjp(two_numbers, x, v);
  hvp(one_number, x, v);
  numerical_gradient(one_number, x);
  EXPECT_EQ(tape.size(), 0);
  EXPECT_FALSE(x.has_grad());
  expect_numbers(x, {2}, {a, b}, 0);
}

// f(p, q) = p^2 q of one element each.
Tensor product_of_powers(const Tensors& x) { return square(x[0]) * x[1]; }

TEST(Derivatives, OfSeveralTensorsGoByTheirOrder) {
  const Tensors x{full({1}, 3, f64), full({1}, 5, f64)};
  const Tensors v{full({1}, 1, f64), full({1}, 10, f64)};
  expect_numbers(jvp(product_of_powers, x, v), {1}, {2 * 3 * 5 + 10 * 9});
  expect_numbers(jvp(product_of_powers, x, {v[0], Tensor()}), {1}, {30});
  expect_numbers(jacobian(product_of_powers, x), {1, 2}, {30, 9});
  expect_numbers(hessian(product_of_powers, x), {2, 2}, {10, 6, 6, 0});
  const Tensors gradients = vjp(product_of_powers, x, full({1}, 2, f64)), hv = hvp(product_of_powers, x, v);
  expect_numbers(gradients[0], {1}, {60});
  expect_numbers(gradients[1], {1}, {18});
  expect_numbers(hv[0], {1}, {10 + 60});
  expect_numbers(hv[1], {1}, {6});
}

TEST(Derivatives, AreTakenByRowsWhereThereAreFewer) {
  const Tensor x = tensor({0.3, -0.2, 0.9}, f64);
  const auto two_of_three = [](const Tensor& v) { return stack({v[0] * v[1], exp(v[2])}); };
  expect_numbers(jacobian(two_of_three, x), {2, 3}, {-0.2, 0.3, 0, 0, 0, std::exp(0.9)});
  const auto three_of_one = [](const Tensor& v) { return concat({v * v, v, exp(v)}); };
  expect_numbers(jacobian(three_of_one, full({1}, 0.5, f64)), {3, 1}, {1, 1, std::exp(0.5)});
}

TEST(Derivatives, WithRespectToLeavesKeepTheirValuesAndGradients) {
  const Tensor w = parameter(full({1}, 3, f32)), c = parameter(full({1}, 2, f32));
  {
    Tape tape;
    tape.backward(sum(w * c));
  }
  const auto f = [&] { return sum(c * w * w * w); };  // leaves and constants in f32
  expect_numbers(jacobian(f, {w}), {1, 1}, {54});
  expect_numbers(hessian(f, {w, c}), {2, 2}, {36, 27, 27, 0});
  expect_numbers(hvp(f, {w}, {full({1}, 2, f32)})[0], {1}, {72});
  EXPECT_EQ(vjp(f, {w}, full({}, 1))[0].item(), 54);
  EXPECT_EQ(w.dtype(), f32);
  EXPECT_EQ(w.item(), 3);
  EXPECT_EQ(w.grad().item(), 2);
  EXPECT_EQ(c.grad().item(), 3);
}

TEST(Derivatives, LeaveTheGradientsOfOtherWeightsAsTheyWere) {
  const Tensor w = parameter(ones({2}, f64));
  const auto f = [&](const Tensor& x) { return sum(w * x * x); };
  vjp(f, point(), full({}, 1, f64));
  hvp(f, point(), ones({2}, f64));
  EXPECT_FALSE(w.has_grad());
}

TEST(Derivatives, RefuseAWrongNumberOfDirectionsAndFunctionsThatAreNoScalar) {
  const Tensors x{full({1}, 3, f64), full({1}, 5, f64)};
  EXPECT_THROW(jvp(product_of_powers, x, {x[0]}), ValueError);
  EXPECT_THROW(hvp(two_numbers, point(), point()), ShapeError);
  EXPECT_THROW(hessian(two_numbers, point()), ShapeError);
  EXPECT_THROW(jvp(TensorFunction(two_numbers), indices({1, 2}), point()), DtypeError);
}

TEST(Derivatives, RefuseADirectionOfAnotherShape) {
  const Tensor v = ones({3}, f64);
  EXPECT_THROW(jvp(two_numbers, point(), v), ShapeError);
  EXPECT_THROW(vjp(two_numbers, point(), v), ShapeError);
  EXPECT_THROW(hvp(one_number, point(), v), ShapeError);
}

}  // namespace
}  // namespace retrace
