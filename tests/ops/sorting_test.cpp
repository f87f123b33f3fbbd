// sort, argsort, topk and argmin: order, ties, NaN, axes, gradients and errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/error_table.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

TEST(Sorting, EqualElementsKeepTheirOrder) {
  const Tensor x = tensor({2, 1, 2, 1, 0}, f64);
  expect_values(sort(x).values, {5}, {0, 1, 1, 2, 2});
  EXPECT_EQ(list(sort(x).indices), (Numbers{4, 1, 3, 0, 2}));
  EXPECT_EQ(list(argsort(x, 0, {.descending = true})), (Numbers{0, 2, 1, 3, 4}));
  expect_values(sort(x, 0, {.descending = true}).values, {5}, {2, 2, 1, 1, 0});
}

/// More equal elements than an insertion sort takes.
TEST(Sorting, IsStableInLongLines) {
  Tensor x = empty({3, 500}, f64);
  double next = 0;
  for (double& value : x.mutable_values<double>()) value = std::fmod(next += 7, 5);
  for (const bool descending : {false, true}) {
    const Tensor positions = argsort(x, 1, {.descending = descending});
    for (std::int64_t row = 0; row < 3; ++row) {
      std::vector<std::int64_t> want(500);
      std::iota(want.begin(), want.end(), 0);
      std::stable_sort(want.begin(), want.end(), [&](std::int64_t i, std::int64_t j) {
        return descending ? x.at({row, i}) > x.at({row, j}) : x.at({row, i}) < x.at({row, j});
      });
      for (std::int64_t k = 0; k < 500; ++k)
        ASSERT_EQ(positions.at({row, k}), static_cast<double>(want[static_cast<std::size_t>(k)])) << row << ", " << k;
    }
  }
}

TEST(Sorting, NanIsLargest) {
  for (const Dtype dtype : {f32, f64, dual}) {
    const Tensor x = tensor({2.0, nan, -infinity, infinity, nan, -1.0}, dtype);
    EXPECT_EQ(list(argsort(x)), (Numbers{2, 5, 0, 3, 1, 4}));
    EXPECT_EQ(list(argsort(x, -1, {.descending = true})), (Numbers{1, 4, 3, 0, 5, 2}));
    EXPECT_EQ(list(topk(x, 2).indices), (Numbers{1, 4}));
    EXPECT_EQ(list(topk(x, 2, 0, {.largest = false}).indices), (Numbers{2, 5}));
  }
}

TEST(Sorting, GoesAlongAnyAxis) {
  const Tensor x = tensor({{3, 1, 2}, {0, 5, 4}}, f64);
  expect_values(sort(x, 0).values, {2, 3}, {0, 1, 2, 3, 5, 4});
  expect_values(sort(x, -2).values, {2, 3}, {0, 1, 2, 3, 5, 4});
  expect_values(sort(x).values, {2, 3}, {1, 2, 3, 0, 4, 5});
  expect_values(topk(x, 1, 0).values, {1, 3}, {3, 5, 4});
  expect_values(topk(x, 2, -1, {.largest = false}).values, {2, 2}, {1, 2, 0, 4});
  EXPECT_EQ(list(topk(x, 2).indices), (Numbers{0, 2, 1, 2}));
}

TEST(Sorting, EmptyAndShortLines) {
  EXPECT_EQ(sort(zeros({0})).values.shape(), Shape{0});
  EXPECT_EQ(sort(zeros({2, 0})).indices.shape(), (Shape{2, 0}));
  EXPECT_EQ(argsort(zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(topk(zeros({2, 3}), 0).values.shape(), (Shape{2, 0}));
  expect_values(sort(number(7) + zeros({2, 1}, f64)).values, {2, 1}, {7, 7});
}

TEST(Sorting, TakesIntegers) {
  const SortResult sorted = sort(indices({3, -1, std::int64_t{1} << 53, (std::int64_t{1} << 53) - 1}));
  EXPECT_EQ(sorted.values.dtype(), i64);
  EXPECT_EQ(list(sorted.indices), (Numbers{1, 0, 3, 2}));
}

TEST(Sorting, GradientsGoBackToWhereElementsCameFrom) {
  const Tensor x = parameter(tensor({2, 1, 3}, f64));
  {
    Tape tape;
    tape.backward({sort(x).values}, {tensor({1, 10, 100}, f64)});
    EXPECT_EQ(tape.records().back()->op().name, std::string("gather"));
  }
  expect_values(x.grad(), {3}, {10, 1, 100});
  x.zero_grad();
  Tape tape;
  tape.backward({topk(x, 2).values}, {tensor({1, 10}, f64)});
  expect_values(x.grad(), {3}, {10, 0, 1});
}

TEST(Sorting, IsTheSameOnAnyNumberOfThreads) {
  const Tensor x = distinct({401, 37}, 0.3);
  std::vector<double> one;
  for (const int count : {1, 4}) {
    const ThreadsScope scope(count);
    const std::vector<double> order = list(argsort(x, 0));
    if (count == 1) one = order;
    EXPECT_EQ(order, one);
  }
}

TEST(Sorting, ArgminIsTheFirstSmallest) {
  const Tensor x = tensor({{3, 1, 1}, {0, 5, 0}}, f64);
  EXPECT_EQ(list(argmin(x)), (Numbers{1, 0}));
  EXPECT_EQ(list(argmin(x, 0)), (Numbers{1, 0, 1}));
  EXPECT_EQ(argmin(tensor({1.0, nan, -infinity, nan}, f64)).item(), 1);
  EXPECT_EQ(argmin(tensor({infinity, infinity}, f64)).item(), 0);
  EXPECT_EQ(argmin(zeros({0, 3})).shape(), Shape{0});
}

TEST(Sorting, Errors) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { sort(with.number); }, "sort: x[] is 0-d and has no axis -1; reshape it first"},
      {Mistake::shape, [](auto& with) { argsort(with.matrix, 2); },
       "argsort: x[2, 3] has no axis 2; axes run from -2 to 1"},
      {Mistake::shape, [](auto& with) { topk(with.matrix, 4); },
       "topk: 4 elements of axis 1 of x[2, 3]: k is 0 to the length of the axis; give another k"},
      {Mistake::shape, [](auto& with) { topk(with.matrix, -1, 0); },
       "topk: -1 elements of axis 0 of x[2, 3]: k is 0 to the length of the axis; give another k"},
      {Mistake::shape, [](auto& with) { argmin(with.hollow); },
       "argmin: axis 1 of x[2, 0] is empty and has no smallest element; choose another axis"},
      {Mistake::value, [](auto& with) { sort(with.undefined); },
       "sort: x is an undefined tensor (default-constructed or moved from); assign a tensor to it first"},
  });
}

}  // namespace
}  // namespace retrace
