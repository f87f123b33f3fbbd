// Derivatives as functions: against closed forms, for constants, and without side effects.
#include <retrace/core/derivatives.h>

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

TEST(Derivatives, RefuseADirectionOfAnotherShape) {
  const Tensor v = ones({3}, f64);
  EXPECT_THROW(jvp(two_numbers, point(), v), ShapeError);
  EXPECT_THROW(vjp(two_numbers, point(), v), ShapeError);
  EXPECT_THROW(hvp(one_number, point(), v), ShapeError);
}

}  // namespace
}  // namespace retrace
