// Comparisons, logic, and what their masks select.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Numbers = std::vector<double>;

void expect_integers(const Tensor& y, const Shape& shape, const Numbers& want) {
  EXPECT_EQ(y.dtype(), i64);
  EXPECT_EQ(y.shape(), shape);
  EXPECT_EQ(list(y), want);
}

TEST(Comparisons, AreThoseOfEveryDtype) {
  for (const Dtype dtype : {f32, f64, i64, dual}) {
    const Tensor a = tensor({1, 2, 3}, dtype), b = tensor({2, 2, 2}, dtype);
    expect_integers(equal(a, b), {3}, {0, 1, 0});
    expect_integers(not_equal(a, b), {3}, {1, 0, 1});
    expect_integers(less(a, b), {3}, {1, 0, 0});
    expect_integers(less_equal(a, b), {3}, {1, 1, 0});
    expect_integers(greater(a, b), {3}, {0, 0, 1});
    expect_integers(greater_equal(a, b), {3}, {0, 1, 1});
  }
}

TEST(Comparisons, BroadcastAndTakeEmptyTensors) {
  const Tensor column = tensor({{1}, {3}}, f64), row = tensor({0, 2, 3}, f64);
  expect_integers(less(column, row), {2, 3}, {0, 1, 1, 0, 0, 0});
  expect_integers(less(row, column), {2, 3}, {1, 0, 0, 1, 1, 0});
  expect_integers(greater(row, number(2)), {3}, {0, 0, 1});
  expect_integers(equal(number(1), number(1)), {}, {1});
  expect_integers(equal(zeros({0, 3}, f64), row), {0, 3}, {});
}

TEST(Comparisons, NanIsNeitherEqualNorLessNorGreater) {
  for (const Dtype dtype : {f32, f64, dual}) {
    const Tensor x = full({2}, nan, dtype);
    for (const auto compare : {Binary(equal), Binary(less), Binary(less_equal), Binary(greater), Binary(greater_equal)})
      expect_integers(compare(x, x), {2}, {0, 0});
    expect_integers(not_equal(x, x), {2}, {1, 1});
  }
  expect_integers(equal(number(-0.0), number(0.0)), {}, {1});
  expect_integers(less(number(-infinity), number(infinity)), {}, {1});
}

TEST(Comparisons, WithANumberRoundItToTheDtype) {
  expect_integers(equal(full({1}, 0.1, f32), 0.1), {1}, {1});
  expect_integers(less(indices({1, 2}), 1.5), {2}, {1, 0});
  expect_integers(equal(indices({1, 2}), 1.5), {2}, {0, 0});
  expect_integers(not_equal(indices({1, 2}), 1), {2}, {0, 1});
  expect_integers(less(tensor({1, 2}, f64), 2), {2}, {1, 0});
  expect_integers(greater_equal(tensor({1, 2}, dual), 2), {2}, {0, 1});
  expect_integers(less_equal(tensor({1, 2}, f64), 1), {2}, {1, 0});
  expect_integers(greater(tensor({1, 2}, f64), 1), {2}, {0, 1});
}

TEST(Comparisons, OfIntegersWithANumberAreExact) {
  const std::int64_t n = 9007199254740992, largest = std::numeric_limits<std::int64_t>::max();  // 2^53
  const Tensor x = indices({n - 1, n, n + 1, largest, -largest - 1});
  const auto flags = [](const Tensor& mask) { return values_of<std::int64_t>(mask); };
  using Flags = std::vector<std::int64_t>;
  EXPECT_EQ(flags(equal(x, n + 1)), (Flags{0, 0, 1, 0, 0}));
  EXPECT_EQ(flags(not_equal(x, n)), (Flags{1, 0, 1, 1, 1}));
  EXPECT_EQ(flags(less(x, n + 1)), (Flags{1, 1, 0, 0, 1}));
  EXPECT_EQ(flags(less_equal(x, 0x1p53)), (Flags{1, 1, 0, 0, 1}));
  EXPECT_EQ(flags(greater(x, largest - 1)), (Flags{0, 0, 0, 1, 0}));
  EXPECT_EQ(flags(greater_equal(x, n - 0.5)), (Flags{0, 1, 1, 1, 0}));
  EXPECT_EQ(flags(less(x, 0x1p63)), (Flags{1, 1, 1, 1, 1})) << "beyond all integers";
  EXPECT_EQ(flags(equal(x, 0x1p63)), (Flags{0, 0, 0, 0, 0}));
  EXPECT_EQ(flags(greater(x, -0x1.1p63)), (Flags{1, 1, 1, 1, 1}));
  EXPECT_EQ(flags(not_equal(x, nan)), (Flags{1, 1, 1, 1, 1}));
  EXPECT_EQ(flags(where(equal(x, n), n + 1, x)), (Flags{n - 1, n + 1, n + 1, largest, -largest - 1}));
}

TEST(Comparisons, IgnoreTangentsAndRecordNothing) {
  const Tensor x = parameter(tensor({1, 3}, f64));
  Tape tape;
  expect_integers(less(x, tensor({2, 2}, dual)), {2}, {1, 0});
  expect_integers(logical_not(greater(x, 2)), {2}, {1, 0});
  EXPECT_EQ(tape.size(), 0);
}

TEST(Comparisons, LongTensorsAreTheSameOnAnyNumberOfThreads) {
  const Tensor a = distinct({3, 211, 101}, 0.1), b = distinct({101}, 0.2);
  Numbers one;
  for (const int count : {1, 4}) {
    const ThreadsScope scope(count);
    const Numbers masks = list(less(a, b));
    if (count == 1) one = masks;
    EXPECT_EQ(masks, one);
  }
  const auto x = a.values<double>(), y = b.values<double>();
  for (std::size_t k = 0; k < x.size(); ++k) ASSERT_EQ(one[k], x[k] < y[k % 101] ? 1 : 0) << k;
}

TEST(Logic, TakesAnythingButZeroForTrue) {
  const Tensor a = indices({0, 0, 5, -1}), b = indices({0, 2, 0, 7});
  expect_integers(logical_and(a, b), {4}, {0, 0, 0, 1});
  expect_integers(logical_or(a, b), {4}, {0, 1, 1, 1});
  expect_integers(logical_xor(a, b), {4}, {0, 1, 1, 0});
  expect_integers(logical_not(a), {4}, {1, 1, 0, 0});
  expect_integers(logical_and(a, indices({{1}, {0}})), {2, 4}, {0, 0, 1, 1, 0, 0, 0, 0});
  expect_integers(logical_not(zeros({0}, i64)), {0}, {});
}

TEST(Masks, OfComparisonsSelectAsTheyAre) {
  const Tensor x = tensor({{1, -2, 3}, {-4, 5, -6}}, f64);
  const Tensor negative = less(x, 0);
  expect_values(where(negative, 0, x), {2, 3}, {1, 0, 3, 0, 5, 0});
  expect_values(where(negative, x, 0.5), {2, 3}, {0.5, -2, 0.5, -4, 0.5, -6});
  expect_values(masked_fill(x, negative, 9), {2, 3}, {1, 9, 3, 9, 5, 9});
  expect_values(masked_select(x, negative), {3}, {-2, -4, -6});
  EXPECT_EQ(where(negative, 7, indices({0, 1, 2})).at({0, 1}), 7);
  const Tensor seen = greater(tensor({{2, 1}, {1, 1}}, f64), 1);  // query 0 sees key 0, query 1 sees nothing
  expect_values(attention(ones({2, 3}, f64), ones({2, 3}, f64), tensor({{4}, {8}}, f64), {.mask = seen}), {2, 1},
                {4, 0});
}

TEST(Masks, WhereWithANumberPassesTheGradientOfTheTensorOnly) {
  const Tensor x = parameter(tensor({1, -2, 3}, f64));
  Tape tape;
  tape.backward({where(less(x, 0), x, 0.5) + where(less(x, 0), infinity, x)}, {tensor({1, 10, 100}, f64)});
  expect_values(x.grad(), {3}, {1, 10, 100});
}

TEST(Masks, NonzeroGivesThePositionsInOrder) {
  expect_integers(nonzero(indices({{0, 3, 0}, {1, 0, -2}})), {3, 2}, {0, 1, 1, 0, 1, 2});
  expect_integers(nonzero(tensor({0.0, nan, -0.0, 1e-300}, f64)), {2, 1}, {1, 3});
  expect_integers(nonzero(number(2)), {1, 0}, {});
  expect_integers(nonzero(number(0)), {0, 0}, {});
  expect_integers(nonzero(ones({2, 0})), {0, 2}, {});
}

TEST(Masks, MaskedSelectBroadcastsBoth) {
  const Tensor x = counted({2, 3});
  expect_values(masked_select(x, indices({1, 0, 1})), {4}, {0, 2, 3, 5});
  expect_values(masked_select(counted({3}), indices({{0}, {2}})), {3}, {0, 1, 2});
  expect_values(masked_select(x, zeros({2, 3}, i64)), {0}, {});
  expect_values(masked_select(number(4), indices(1)), {1}, {4});
  expect_values(masked_select(zeros({0, 3}, f64), indices({1, 1, 1})), {0}, {});
  EXPECT_EQ(list(masked_select(indices({4, 5}), indices({0, 1}))), Numbers{5});
}

TEST(Masks, GradientsOfMaskedSelectGoBackToWhereElementsCameFrom) {
  const Tensor x = parameter(counted({3}));
  Tape tape;
  tape.backward({masked_select(x, indices({{1, 0, 1}, {0, 0, 1}}))}, {tensor({1, 10, 100}, f64)});
  expect_values(x.grad(), {3}, {1, 0, 110});
}

}  // namespace
}  // namespace retrace
