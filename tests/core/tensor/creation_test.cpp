// Creating tensors: dtype, shape and every value; errors.
#include <retrace/core/tensor/tensor.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <sstream>
#include <vector>

#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

void expect_is(const Tensor& x, Dtype dtype, const Shape& shape, const std::vector<double>& want) {
  EXPECT_EQ(x.dtype(), dtype) << x;
  EXPECT_EQ(x.shape(), shape) << x;
  EXPECT_EQ(list(x), want) << x;
}

TEST(Creation, FromNestedLists) {
  expect_is(tensor(5), f32, {}, {5});
  expect_is(tensor({1, 2.5, -3}), f32, {3}, {1, 2.5, -3});
  expect_is(tensor({{1, 2}, {3, 4}, {5, 6}}, f64), f64, {3, 2}, {1, 2, 3, 4, 5, 6});
  expect_is(tensor({{{7}}}), f32, {1, 1, 1}, {7});
  expect_is(tensor({}), f32, {0}, {});
  expect_is(indices({{3, 0}, {-1, 9}}), i64, {2, 2}, {3, 0, -1, 9});
  expect_error<ShapeError>(
      [] {
        tensor({{1, 2}, {3}});
      },
      "tensor: the nested lists are ragged: [2] and [1] side by side; give each list of a level "
      "the same length");
  EXPECT_THROW(tensor({{1}, 2}), ShapeError);
}

TEST(Creation, FromSpans) {
  const std::vector<float> floats{1, 2};
  const std::vector<double> doubles{1, 0.5, 3, 4};
  const std::vector<std::int64_t> integers{std::int64_t{1} << 60, -5};
  expect_is(tensor(std::span(floats), {2, 1}), f32, {2, 1}, {1, 2});
  expect_is(tensor(std::span(doubles), {2, 2}), f32, {2, 2}, {1, 0.5, 3, 4});
  expect_is(tensor(std::span(doubles), {4}, f64), f64, {4}, {1, 0.5, 3, 4});
  EXPECT_EQ(indices(std::span(integers), {2}).values<std::int64_t>()[0], integers[0]);
  expect_error<ShapeError>([&] { tensor(std::span(floats), {3}); },
                           "tensor: 2 values for shape [3], which holds 3; give one value per element");
}

TEST(Creation, Constants) {
  expect_is(zeros({2}), f32, {2}, {0, 0});
  expect_is(ones({1, 2}, f64), f64, {1, 2}, {1, 1});
  expect_is(full({}, -2.5), f32, {}, {-2.5});
  expect_is(full({0, 3}, 1, i64), i64, {0, 3}, {});
  const Tensor ids = indices({{4, 5}});
  expect_is(zeros_like(ids), i64, {1, 2}, {0, 0});
  expect_is(ones_like(ids), i64, {1, 2}, {1, 1});
  expect_is(full_like(tensor({1, 2}, f64), 0.1), f64, {2}, {0.1, 0.1});
  EXPECT_EQ(empty({2, 3}, dual).dtype(), dual);
}

TEST(Creation, Sequences) {
  expect_is(arange(0, 4), f32, {4}, {0, 1, 2, 3});
  expect_is(arange(1, 2, 0.25, f64), f64, {4}, {1, 1.25, 1.5, 1.75});
  expect_is(arange(3, -1, -2, i64), i64, {2}, {3, 1});
  expect_is(arange(0, 5, 2), f32, {3}, {0, 2, 4});
  expect_is(arange(2, 2), f32, {0}, {});
  expect_is(arange(2, 0), f32, {0}, {});
  expect_error<ValueError>([] { arange(0, 3, 0); },
                           "arange: from 0 to 3 by 0 never ends; use a finite step that is not 0");
  expect_is(linspace(-1, 1, 5), f32, {5}, {-1, -0.5, 0, 0.5, 1});
  expect_is(linspace(3, 9, 1), f32, {1}, {3});
  expect_is(linspace(3, 9, 0), f32, {0}, {});
  EXPECT_EQ(linspace(0.1, 0.7, 50, f64).at({-1}), 0.7) << "the last number is exact";
  EXPECT_THROW(linspace(0, 1, -1), ValueError);
}

constexpr std::int64_t beyond = 9007199254740993;  // 2^53 + 1, which no double holds
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max(),
                       smallest = std::numeric_limits<std::int64_t>::min();

std::vector<std::int64_t> integers_of(const Tensor& x) {
  return {x.values<std::int64_t>().begin(), x.values<std::int64_t>().end()};
}

TEST(Creation, IntegersBeyondDoublesAreExact) {
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(integers_of(indices({beyond, -beyond, largest, smallest})), (Integers{beyond, -beyond, largest, smallest}));
  EXPECT_EQ(integers_of(tensor({{beyond}, {1.0}}, i64)), (Integers{beyond, 1}));
  EXPECT_EQ(integers_of(full({2}, beyond, i64)), (Integers{beyond, beyond}));
  EXPECT_EQ(integers_of(full_like(indices({1}), largest)), Integers{largest});
  EXPECT_EQ(integers_of(arange(beyond, beyond + 5, 2, i64)), (Integers{beyond, beyond + 2, beyond + 4}));
  EXPECT_EQ(integers_of(arange(largest, largest - 3, -2, i64)), (Integers{largest, largest - 2}));
  EXPECT_EQ(integers_of(arange(smallest, largest, largest, i64)), (Integers{smallest, -1, largest - 1}));
  EXPECT_EQ(integers_of(linspace(beyond, beyond + 4, 3, i64)), (Integers{beyond, beyond + 2, beyond + 4}));
  EXPECT_EQ(integers_of(linspace(smallest, largest, 2, i64)), (Integers{smallest, largest}));
  EXPECT_EQ(integers_of(linspace(3, -3, 3, i64)), (Integers{3, 0, -3}));
  EXPECT_EQ(full({}, beyond, i64).item<std::int64_t>(), beyond);
  EXPECT_EQ(indices({{0, beyond}}).at<std::int64_t>({0, -1}), beyond);
  std::ostringstream printed;
  printed << indices({beyond});
  EXPECT_EQ(printed.str(), text("i64[1]\n[", beyond, "]\n"));
  EXPECT_THROW(indices({1}).item<float>(), DtypeError);
  EXPECT_EQ(full({}, beyond, f32).item(), 9007199254740992.0);
}

TEST(Creation, WhatIsNoIntegerIsNoI64) {
  expect_error<ValueError>([] { full({2}, 2.5, i64); },
                           "full: 2.5 is not an integer of i64; give integers, or another dtype");
  expect_error<ValueError>(
      [] {
        indices({1, 0.5});
      },
      "tensor: 0.5 is not an integer of i64; give integers, or another dtype");
  EXPECT_THROW(full_like(indices({1}), std::nan("")), ValueError);
  EXPECT_THROW(full({2}, 0x1p63, i64), ValueError);
  EXPECT_THROW(full({2}, std::numeric_limits<std::uint64_t>::max(), i64), ValueError);
  EXPECT_THROW(arange(0, 1, 0.25, i64), ValueError);
  EXPECT_THROW(linspace(0, 1, 5, i64), ValueError);
  const std::vector<double> half{0.5};
  EXPECT_THROW(tensor(std::span(half), {1}, i64), ValueError);
  EXPECT_EQ(integers_of(full({1}, -0x1p63, i64)), std::vector<std::int64_t>{smallest});
}

TEST(Creation, EyeAndOneHot) {
  expect_is(eye(2), f32, {2, 2}, {1, 0, 0, 1});
  expect_is(eye(2, 3, f64), f64, {2, 3}, {1, 0, 0, 0, 1, 0});
  expect_is(eye(3, 1), f32, {3, 1}, {1, 0, 0});
  expect_is(eye(2, 0), f32, {2, 0}, {});
  expect_is(eye(2, 3, f64, 1), f64, {2, 3}, {0, 1, 0, 0, 0, 1});
  expect_is(eye(2, 2, i64, -1), i64, {2, 2}, {0, 0, 1, 0});
  expect_is(one_hot(indices({2, 0}), 3), f32, {2, 3}, {0, 0, 1, 1, 0, 0});
  expect_is(one_hot(indices({{1}, {0}}), 2, i64), i64, {2, 1, 2}, {0, 1, 1, 0});
  expect_error<IndexError>(
      [] {
        one_hot(indices({0, 3}), 3);
      },
      "one_hot: id 3 at position 1 of [2] is outside 0 to 2; check the ids or the number of "
      "classes");
  EXPECT_THROW(one_hot(indices({-1}), 3), IndexError);
}

}  // namespace
}  // namespace retrace
