// logcumsumexp, cummax and cummin: beside the reductions of every beginning of a line, infinities, NaN, ties,
// gradients.
#include <gtest/gtest.h>

#include <cmath>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Numbers = std::vector<double>;

/// logsumexp of x[0], of x[0] and x[1], and so on.
Tensor of_beginnings(const Tensor& x) {
  Tensors parts;
  for (std::int64_t k = 1; k <= x.dim(0); ++k) parts.push_back(logsumexp(slice(x, {range(0, k)}), 0));
  return stack(parts);
}

TEST(Logcumsumexp, IsLogsumexpOfEveryBeginning) {
  for (const double size : {1.0, 300.0})
    for (const Dtype dtype : {f32, f64}) {
      const Tensor x = parameter(Random(5).normal({9, 4}, 0, size, f64).to(dtype)), same = parameter(x.to(f64));
      const Tensor dy = Random(6).normal({9, 4}, f64);
      Tape tape;
      const Tensor y = logcumsumexp(x, 0), want = of_beginnings(same);
      tape.backward({y, want}, {dy.to(dtype), dy});
      const double eps = dtype == f32 ? 1e-6 : 1e-14;
      expect_near(y, want, eps * size);
      expect_near(x.grad(), same.grad(), 10 * eps);
    }
}

TEST(Logcumsumexp, AtInfinitiesAndNan) {
  const Tensor x = parameter(tensor({-infinity, -infinity, 0.0, 800.0, 800.0, -infinity}, f64));
  Tape tape;
  const Tensor y = logcumsumexp(x);
  tape.backward({y}, {ones_like(y)});
  expect_values(y, {6}, {-infinity, -infinity, 0, 800, 800 + std::log(2), 800 + std::log(2)});
  expect_near(x.grad(), tensor({0.0, 0.0, 1.0, 2.0, 1.0, 0.0}, f64), 1e-12);
  const Tensor odd = logcumsumexp(tensor({{1.0, infinity, infinity, 2.0}, {1.0, nan, 5.0, infinity}}, f64));
  EXPECT_EQ(list(odd[0]), (Numbers{1, infinity, infinity, infinity}));
  for (const std::int64_t k : {1, 2, 3}) EXPECT_TRUE(std::isnan(odd.at({1, k}))) << k;
  EXPECT_EQ(logcumsumexp(zeros({2, 0}, f64)).shape(), (Shape{2, 0}));
}

TEST(Cummax, HasThePositionOfTheLastOfEqualElements) {
  const Tensor x = tensor({{2.0, 1.0, 2.0, 3.0, 0.0}, {nan, 4.0, nan, 1.0, 5.0}}, f64);
  const SortResult most = cummax(x), least = cummin(x);
  EXPECT_EQ(list(most.values[0]), (Numbers{2, 2, 2, 3, 3}));
  EXPECT_EQ(list(most.indices), (Numbers{0, 0, 2, 3, 3, 0, 0, 2, 2, 2}));
  EXPECT_EQ(list(least.values[0]), (Numbers{2, 1, 1, 1, 0}));
  EXPECT_EQ(list(least.indices), (Numbers{0, 1, 1, 1, 4, 0, 0, 2, 2, 2}));
  expect_values(cummax(tensor({{1, 5}, {3, 2}, {2, 7}}, f64), 0).values, {3, 2}, {1, 5, 3, 5, 3, 7});
  EXPECT_EQ(list(cummax(indices({3, 1, 4, 1})).values), (Numbers{3, 3, 4, 4}));
  EXPECT_EQ(cummin(zeros({0, 3}), 0).values.shape(), (Shape{0, 3}));
}

TEST(Cummax, GradientsGoBackToWhereTheLargestWere) {
  const Tensor x = parameter(tensor({2, 1, 2, 3, 0}, f64)), dy = tensor({1, 10, 100, 1000, 10000}, f64);
  {
    Tape tape;
    tape.backward({cummax(x).values}, {dy});
  }
  expect_values(x.grad(), {5}, {11, 0, 100, 11000, 0});
}

TEST(Cummax, NeedsAnAxis) {
  expect_error<ShapeError>([] { cummax(number(2)); }, "cummax: x[] is 0-d and has no axis -1; reshape it first");
  expect_error<ShapeError>([] { cummin(zeros({2}), 1); }, "cummin: x[2] has no axis 1; axes run from -1 to 0");
  expect_error<DtypeError>([] { logcumsumexp(indices({1})); }, needs_real("logcumsumexp", "x[1]"));
}

}  // namespace
}  // namespace retrace
