// Sums of rows against a loop, on each instruction set: every element of the result is one chain of additions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/core/tensor/dual.h>
#include <retrace/core/tensor/random.h>
#include <retrace/ops/kernels/isa.h>
#include <retrace/ops/loops/sum_of_rows.h>

namespace retrace {
namespace {

template <class T> std::vector<T> random_numbers(std::int64_t count) {
  static Random random(1);
  const Tensor numbers = random.normal({count}, std::is_same_v<T, float> ? f32 : f64);
  return {numbers.values<T>().begin(), numbers.values<T>().end()};
}

template <class T> auto add_rows_of(const kernels::KernelTable& table) {
  if constexpr (std::is_same_v<T, float>)
    return table.maps_float->add_rows;
  else
    return table.maps_double->add_rows;
}

template <class T> class SumOfRows : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SumOfRows, Types);

TYPED_TEST(SumOfRows, KernelsHaveTheBitsOfTheLoop) {
  for (const std::int64_t rows : {0, 1, 7, 8, 9, 31})
    for (std::int64_t columns = 1; columns < 70; columns += 3) {
      const std::int64_t stride = columns + 5;
      const std::vector<TypeParam> x = random_numbers<TypeParam>(rows * stride + 1), y = random_numbers<TypeParam>(80);
      std::vector<TypeParam> want = y;
      for (std::int64_t c = 0; c < columns; ++c) {
        TypeParam sum = y[static_cast<std::size_t>(c)];
        for (std::int64_t row = 0; row < rows; ++row) sum += x[static_cast<std::size_t>(row * stride + c)];
        want[static_cast<std::size_t>(c)] = sum;
      }
      for (const kernels::KernelTable* table : kernels::supported_kernel_tables()) {
        std::vector<TypeParam> got = y;
        add_rows_of<TypeParam> (*table)(x.data(), stride, rows, columns, got.data());
        EXPECT_EQ(got, want) << rows << " x " << columns << " on " << table->name;
      }
    }
}

TYPED_TEST(SumOfRows, WritesOrAddsOnAnyNumberOfThreads) {
  const std::int64_t rows = 500, columns = 1100;
  const std::vector<TypeParam> x = random_numbers<TypeParam>(rows * columns), y = random_numbers<TypeParam>(columns);
  for (const bool add : {false, true}) {
    std::vector<TypeParam> want = add ? y : std::vector<TypeParam>(y.size());
    for (std::size_t k = 0; k < x.size(); ++k) want[k % y.size()] += x[k];
    for (const int threads : {1, 2, 3}) {
      const ThreadsScope scope(threads);
      std::vector<TypeParam> got = y;
      put_sum_of_rows<TypeParam>(x.data(), rows, columns, {got.data(), add});
      EXPECT_EQ(got, want) << add << ' ' << threads;
    }
  }
}

TEST(SumOfRowsOfDuals, AnInfiniteValueLeavesTheTangent) {
  const std::vector<Dual> x = {Dual{std::numeric_limits<double>::infinity(), 2}, Dual{1, 3}};
  Dual sum;
  put_sum_of_rows<Dual>(x.data(), 2, 1, {&sum, false});
  EXPECT_TRUE(std::isinf(sum.value));
  EXPECT_EQ(sum.tangent, 5);
}

}  // namespace
}  // namespace retrace
