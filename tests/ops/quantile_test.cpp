// median and quantile: values of NumPy and PyTorch, NaN, ties, gradients and errors.
#include <gtest/gtest.h>

#include <cmath>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Numbers = std::vector<double>;

TEST(Median, IsTheLowerOneOfTwoInTheMiddle) {
  const SortResult odd = median(tensor({{5, 1, 3}, {2, 2, 9}}, f64)), even = median(tensor({4, 1, 3, 2}, f64));
  expect_values(odd.values, {2}, {3, 2});
  EXPECT_EQ(list(odd.indices), (Numbers{2, 1}));
  expect_values(even.values, {}, {2});
  EXPECT_EQ(even.indices.item(), 3);
  expect_values(median(tensor({{5, 1, 3}, {2, 2, 9}}, f64), 0).values, {3}, {2, 1, 3});
  EXPECT_EQ(median(indices({7, 5, 6})).values.item(), 6);
}

TEST(Median, OfNanIsNan) {
  const SortResult result = median(tensor({{1.0, nan, 2.0}, {infinity, 1.0, -infinity}}, f64));
  EXPECT_TRUE(std::isnan(result.values.at({0})));
  EXPECT_EQ(list(result.indices), (Numbers{1, 1}));
  EXPECT_EQ(result.values.at({1}), 1);
}

TEST(Median, SendsItsGradientToTheMiddle) {
  const Tensor x = parameter(tensor({{5, 1, 3, 2}}, f64));
  Tape tape;
  tape.backward({median(x).values}, {tensor({7}, f64)});
  expect_values(x.grad(), {1, 4}, {0, 0, 0, 7});
}

TEST(Quantile, InterpolatesAsNumpyDoes) {
  const Tensor x = tensor({{3, 1, 2, 10}}, f64);
  EXPECT_EQ(quantile(x, 0).item(), 1);
  EXPECT_EQ(quantile(x, 1).item(), 10);
  EXPECT_EQ(quantile(x, 0.5).item(), 2.5);
  EXPECT_DOUBLE_EQ(quantile(x, 0.25).item(), 1.75);
  EXPECT_DOUBLE_EQ(quantile(x, 0.9).item(), 7.9);
  expect_values(quantile(transpose(x), 0.5, 0), {1}, {2.5});
  EXPECT_FLOAT_EQ(static_cast<float>(quantile(x.to(f32), 0.9).item()), 7.9F);
  EXPECT_EQ(quantile(tensor({infinity, 1.0, 2.0}, f64), 0.5).item(), 2);
  for (const double q : {0.0, 0.3, 1.0}) EXPECT_TRUE(std::isnan(quantile(tensor({1.0, nan, 2.0}, f64), q).item())) << q;
}

TEST(Quantile, SharesItsGradientBetweenTwoElements) {
  const Tensor x = parameter(tensor({3, 1, 2, 10}, f64));
  Tape tape;
  tape.backward(quantile(x, 0.25));
  expect_near(x.grad(), tensor({0, 0.25, 0.75, 0}, f64), 1e-15);
}

TEST(Quantile, Errors) {
  const Tensor x = zeros({2, 0});
  expect_error<ShapeError>([&] { quantile(x, 0.5); },
                           "quantile: axis 1 of x[2, 0] is empty and has no elements; choose another axis");
  expect_error<ShapeError>([&] { median(x); },
                           "median: axis 1 of x[2, 0] is empty and has no elements; choose another axis");
  EXPECT_EQ(median(x, 0).values.shape(), Shape{0});
  for (const double q : {-0.1, 1.1, nan})
    expect_error<ValueError>([&] { quantile(zeros({2}), q); }, text("quantile: x[2] with q ", q, "; give 0 to 1"));
  expect_error<DtypeError>([] { quantile(indices({1}), 0.5); }, needs_real("quantile", "x[1]"));
}

}  // namespace
}  // namespace retrace
