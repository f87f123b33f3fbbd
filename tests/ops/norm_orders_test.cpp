// Norms of any order: values, sizes whose powers overflow, and the gradients of PyTorch at zeros and ties.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

Tensor norm_of(const Tensor& x, double order) { return norm(x, -1, {}, order); }

Tensor gradient(const Tensor& values, double order) {
  const Tensor x = parameter(values);
  Tape tape;
  const Tensor y = norm_of(x, order);
  tape.backward({y}, {ones_like(y)});
  return x.grad();
}

TEST(NormOrders, HaveKnownValues) {
  const Tensor x = tensor({3, -4, 0}, f64);
  EXPECT_EQ(norm_of(x, 0).item(), 2);
  EXPECT_EQ(norm_of(x, 1).item(), 7);
  EXPECT_EQ(norm_of(x, 2).item(), 5);
  EXPECT_NEAR(norm_of(x, 3).item(), 4.497941445275415, 1e-14);
  EXPECT_NEAR(norm_of(x, 0.5).item(), std::pow(std::sqrt(3) + 2, 2), 1e-14);
  EXPECT_EQ(norm_of(x, infinity).item(), 4);
  EXPECT_EQ(norm_of(x, -infinity).item(), 0);
  EXPECT_EQ(norm_of(x, -1).item(), 0);
  EXPECT_NEAR(norm_of(tensor({3, -6}, f64), -1).item(), 2, 1e-15);
  for (const double order : {0.0, 0.5, 1.0, 3.0, -1.0, infinity, -infinity}) {
    EXPECT_EQ(norm(x + zeros({2, 1}, f64), {0, 1}, {.keepdims = true}, order).shape(), (Shape{1, 1})) << order;
    EXPECT_TRUE(std::isnan(norm_of(tensor({1, nan, 2}, f64), order).item())) << order;
  }
}

TEST(NormOrders, OfAnySize) {
  for (const double order : {-3.0, 0.5, 1.5, 3.0, 50.0})
    for (const double size : {1e-200, 1e200}) {
      const Tensor x = tensor({3, -4}, f64);
      EXPECT_NEAR(norm_of(size * x, order).item() / size, norm_of(x, order).item(), 1e-14) << order;
      expect_near(gradient(size * x, order), gradient(x, order), 1e-13, text("order ", order));
    }
}

TEST(NormOrders, HaveNoGradientAtZeros) {
  for (const double order : {0.0, 0.5, 1.0, 1.5, 3.0, -1.0, infinity, -infinity}) {
    expect_values(gradient(zeros({2}, f64), order), {2}, {0, 0});
    EXPECT_EQ(gradient(tensor({0, 2}, f64), order).at({0}), 0) << order;
  }
  expect_near(gradient(tensor({0, -2}, f64), 3), tensor({0, -1}, f64), 1e-15);
  expect_values(gradient(tensor({0, -2}, f64), 0.5), {2}, {0, -1});
}

TEST(NormOrders, TiesOfExtremesShareTheGradient) {
  expect_values(gradient(tensor({4, -4, 1}, f64), infinity), {3}, {0.5, -0.5, 0});
  expect_values(gradient(tensor({4, -1, 1}, f64), -infinity), {3}, {0, -0.5, 0.5});
}

TEST(NormOrders, OfNothing) {
  const Tensor none = zeros({2, 0}, f64);
  for (const double order : {0.0, 0.5, 1.0, 3.0}) expect_values(norm_of(none, order), {2}, {0, 0});
  expect_values(norm_of(none, -1), {2}, {infinity, infinity});
  expect_error<ShapeError>([&] { norm_of(none, infinity); },
                           "norm: x[2, 0] has no elements along the reduced axes; reduce another axis or skip it");
}

TEST(NormOrders, AreChecked) {
  const Tensor x = zeros({2});
  expect_error<ValueError>([&] { norm_of(x, nan); }, "norm: x[2] with order nan; give a number");
  for (const double order : {0.0, 1.0, 2.0, 3.0, infinity}) {
    expect_error<ShapeError>([&] { norm(x, 1, {}, order); }, "norm: x[2] has no axis 1; axes run from -1 to 0");
    expect_error<DtypeError>([&] { norm(indices({1}), 0, {}, order); }, needs_real("norm", "x[1]"));
  }
}

}  // namespace
}  // namespace retrace
