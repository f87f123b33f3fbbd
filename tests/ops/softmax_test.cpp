// softmax and log_softmax: the formula, large numbers, masks, NaN, and the independence of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Softmax = Tensor (*)(const Tensor&, int, const Tensor&);

bool all_nan(const Tensor& x) {
  const Tensor wide = x.to(f64);
  return std::ranges::all_of(wide.values<double>(), [](double element) { return std::isnan(element); });
}

Tensor gradient_of(Softmax function, const Tensor& values, int axis, const Tensor& cotangent, const Tensor& mask = {}) {
  const Tensor x = parameter(values);
  Tape tape;
  tape.backward({function(x, axis, mask)}, {cotangent});
  return x.grad();
}

/// e^x_k / sum, for moderate numbers.
std::vector<double> plain_softmax(const std::vector<double>& x) {
  double sum = 0;
  for (const double number : x) sum += std::exp(number);
  std::vector<double> y;
  for (const double number : x) y.push_back(std::exp(number) / sum);
  return y;
}

TEST(Softmax, IsItsFormulaAlongEveryAxis) {
  Random random(1);
  const Tensor x = random.uniform({3, 4, 5}, -3, 3, f64);
  for (int axis = 0; axis < 3; ++axis) {
    const Tensor y = softmax(x, axis), logs = log_softmax(x, axis - 3);
    std::array<std::int64_t, 3> at{1, 2, 3};
    std::int64_t& moving = at[static_cast<std::size_t>(axis)];
    std::vector<double> line;
    for (moving = 0; moving < x.dim(axis); ++moving) line.push_back(x.at({at[0], at[1], at[2]}));
    const std::vector<double> want = plain_softmax(line);
    for (moving = 0; moving < x.dim(axis); ++moving) {
      const double expected = want[static_cast<std::size_t>(moving)];
      EXPECT_NEAR(y.at({at[0], at[1], at[2]}), expected, 1e-15);
      EXPECT_NEAR(logs.at({at[0], at[1], at[2]}), std::log(expected), 1e-14);
    }
  }
}

TEST(Softmax, OfAThousandAndMinusAThousand) {
  for (const Dtype dtype : {f32, f64}) {
    EXPECT_TRUE(same_bits(softmax(tensor({1000.0, -1000.0}, dtype)), tensor({1.0, 0.0}, dtype)));
    EXPECT_TRUE(same_bits(softmax(tensor({-1000.0, -1000.0}, dtype)), tensor({0.5, 0.5}, dtype)));
    EXPECT_TRUE(same_bits(log_softmax(tensor({1000.0, -1000.0}, dtype)), tensor({0.0, -2000.0}, dtype)));
    const Tensor dy = tensor({3.0, 5.0}, dtype);
    EXPECT_TRUE(same_bits(gradient_of(softmax, tensor({1000.0, -1000.0}, dtype), 0, dy), zeros({2}, dtype)));
    EXPECT_TRUE(
        same_bits(gradient_of(log_softmax, tensor({1000.0, -1000.0}, dtype), 0, dy), tensor({-5.0, 5.0}, dtype)));
  }
}

/// 1e4 + k/8 is exact in f32, so only the function itself can lose digits.
TEST(Softmax, AnOffsetOfTenThousandChangesNothing) {
  for (const Dtype dtype : {f32, f64}) {
    const Tensor x = tensor({{0.0, 0.25, -1.5, 2.0, 0.125}, {3.0, 3.0, 2.875, -4.0, 0.5}}, dtype), far = x + 1e4;
    const Tensor dy = tensor({{1.0, -2.0, 0.5, 3.0, 0.0}, {0.3, 0.7, -1.0, 2.0, 5.0}}, dtype);
    for (const Softmax function : {Softmax(softmax), Softmax(log_softmax)}) {
      EXPECT_TRUE(same_bits(function(far, -1, {}), function(x, -1, {})));
      EXPECT_TRUE(same_bits(gradient_of(function, far, -1, dy), gradient_of(function, x, -1, dy)));
      expect_near(function(x, -1, {}), function(x.to(f64), -1, {}), dtype == f32 ? 1e-6 : 0);
    }
  }
}

TEST(Softmax, AMaskedRowGivesZerosAndAZeroGradient) {
  for (const Dtype dtype : {f32, f64})
    for (const int axis : {0, 1}) {
      const Tensor x = tensor({{1, 2, 3}, {4, 5, 7}}, dtype), dy = tensor({{2, -1, 4}, {3, 6, -2}}, dtype);
      const Tensor row = tensor({{-infinity, -infinity, -infinity}, {0, 0, 0}}, dtype);
      const auto turned = [&](const Tensor& values) { return axis == 1 ? values : transpose(values); };
      const Tensor y = turned(softmax(turned(x), axis, turned(row)));
      const Tensor dx = turned(gradient_of(softmax, turned(x), axis, turned(dy), turned(row)));
      EXPECT_TRUE(same_bits(y[0], zeros({3}, dtype)));
      EXPECT_TRUE(same_bits(y[1], softmax(x[1])));
      EXPECT_TRUE(same_values(dx[0], zeros({3}, dtype)));
      EXPECT_TRUE(same_bits(dx[1], gradient_of(softmax, x[1], 0, dy[1])));
      const Tensor logs = turned(log_softmax(turned(x), axis, turned(row)));
      const Tensor slopes = turned(gradient_of(log_softmax, turned(x), axis, turned(dy), turned(row)));
      EXPECT_TRUE(same_bits(logs[0], full({3}, -infinity, dtype)));
      EXPECT_TRUE(same_bits(logs[1], log_softmax(x[1])));
      EXPECT_TRUE(same_bits(slopes[0], zeros({3}, dtype)));
      EXPECT_TRUE(same_bits(slopes[1], gradient_of(log_softmax, x[1], 0, dy[1])));
    }
}

TEST(Softmax, AMaskedElementIsAsIfItWereNotThere) {
  const Tensor x = tensor({1.0, 50.0, 2.0, 3.0}, f64), mask = tensor({0.0, -infinity, 0.0, 0.0}, f64);
  const Tensor y = softmax(x, 0, mask), kept = softmax(tensor({1.0, 2.0, 3.0}, f64));
  EXPECT_EQ(y.at({1}), 0);
  expect_near(take(y, indices({0, 2, 3})), kept, 1e-16);
  EXPECT_EQ(gradient_of(softmax, x, 0, tensor({1.0, 9.0, -2.0, 4.0}, f64), mask).at({1}), 0);
}

TEST(Softmax, TheMaskIsAddedFirstBroadcastsAndGetsNoGradient) {
  const Tensor x = parameter(distinct({2, 3, 4}, 0.5)), mask = parameter(distinct({3, 1}, 0.9) * 3.0);
  Tape tape;
  const Tensor y = softmax(x, 1, mask), logs = log_softmax(x, 1, mask);
  tape.backward({y, logs}, {distinct({2, 3, 4}, 0.1), distinct({2, 3, 4}, 0.3)});
  EXPECT_TRUE(x.has_grad());
  EXPECT_FALSE(mask.has_grad());
  EXPECT_TRUE(same_bits(y, softmax(x + mask, 1)));
  EXPECT_TRUE(same_bits(logs, log_softmax(x + mask, 1)));
}

TEST(Softmax, NanInIsNanOut) {
  for (const Dtype dtype : {f32, f64})
    for (const Softmax function : {Softmax(softmax), Softmax(log_softmax)}) {
      for (const Tensor& row :
           {tensor({nan, 1.0, 2.0}, dtype), tensor({1.0, 2.0, nan}, dtype), tensor({nan, nan, nan}, dtype)})
        EXPECT_TRUE(all_nan(function(row, 0, {}))) << row;
      EXPECT_TRUE(std::isnan(function(tensor({nan, -infinity}, dtype), 0, {}).at({0})));
      EXPECT_TRUE(std::isnan(function(tensor({-infinity, nan}, dtype), 0, {}).at({1})));
      const Tensor rows = function(tensor({{1, 2}, {1, nan}, {1, 2}}, dtype), 1, {});
      EXPECT_TRUE(same_bits(rows[0], rows[2]));
      EXPECT_TRUE(all_nan(rows[1]));
    }
}

TEST(Softmax, OfNothingAndOfOneNumber) {
  for (const Softmax function : {Softmax(softmax), Softmax(log_softmax)}) {
    for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}}) {
      EXPECT_EQ(function(zeros(shape, f64), -1, {}).shape(), shape);
      EXPECT_EQ(gradient_of(function, zeros(shape, f64), -1, zeros(shape, f64)).shape(), shape);
    }
    EXPECT_EQ(gradient_of(function, tensor({{-7.0}}, f64), 1, tensor({{3.0}}, f64)).item(), 0);
  }
  EXPECT_EQ(softmax(tensor({-7.0}, f64)).item(), 1);
  EXPECT_EQ(log_softmax(tensor({-7.0}, f64)).item(), 0);
}

TEST(Softmax, ARowOfABatchIsThatRowAloneAndThreadsChangeNothing) {
  Random random(4);
  for (const Softmax function : {Softmax(softmax), Softmax(log_softmax)})
    for (const std::int64_t width : {7, 64, 517}) {
      const Tensor x = random.normal({300, width}, 0, 4, f32), dy = random.normal({300, width}, f32);
      const ThreadsScope on_one(1);
      const Tensor y = function(x, -1, {}), dx = gradient_of(function, x, -1, dy);
      for (const std::int64_t row : {0, 111, 299}) {
        EXPECT_TRUE(same_bits(y[row], function(x[row], -1, {})));
        EXPECT_TRUE(same_bits(dx[row], gradient_of(function, x[row].clone(), -1, dy[row])));
      }
      const ThreadsScope on_two(2);
      EXPECT_TRUE(same_bits(function(x, -1, {}), y));
      EXPECT_TRUE(same_bits(gradient_of(function, x, -1, dy), dx));
    }
}

}  // namespace
}  // namespace retrace
