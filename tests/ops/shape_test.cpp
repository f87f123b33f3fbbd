// Ops that move elements: values against their definitions, and errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

TEST(Shape, ReshapeSqueezeAndUnsqueezeShareTheStorage) {
  const Tensor x = counted({2, 1, 3});
  for (const Tensor& y : {reshape(x, {3, 2}), squeeze(x, 1), squeeze(x, -2), unsqueeze(x, 0), unsqueeze(x, -1)})
    EXPECT_EQ(y.values<double>().data(), x.values<double>().data());
  EXPECT_EQ(squeeze(x, -2).shape(), (Shape{2, 3}));
  EXPECT_EQ(unsqueeze(x, -1).shape(), (Shape{2, 1, 3, 1}));
  EXPECT_EQ(unsqueeze(x, 3).shape(), (Shape{2, 1, 3, 1}));
  EXPECT_EQ(reshape(ones({1}, f64), {}).rank(), 0);
  EXPECT_EQ(reshape(ones({3, 0}, f64), {0, 7}).shape(), (Shape{0, 7}));
}

/// Every permutation of the axes of [2, 3, 1, 4], and shapes larger than a tile along one axis or both.
TEST(Shape, TransposeIsItsDefinition) {
  std::vector<int> order{0, 1, 2, 3};
  do {
    const Tensor x = counted({2, 3, 1, 4});
    const Tensor y = transpose(x, std::span<const int>(order));
    std::array<std::int64_t, 4> i{};
    const auto at = [&](int axis) { return i[static_cast<std::size_t>(order[static_cast<std::size_t>(axis)])]; };
    for (i[0] = 0; i[0] < 2; ++i[0])
      for (i[1] = 0; i[1] < 3; ++i[1])
        for (i[3] = 0; i[3] < 4; ++i[3]) EXPECT_EQ(y.at({at(0), at(1), at(2), at(3)}), x.at({i[0], i[1], i[2], i[3]}));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Shape, TransposeOfMatricesBeyondATile) {
  for (const Shape& shape : {Shape{1, 17}, Shape{16, 16}, Shape{17, 33}, Shape{300, 257}, Shape{70, 3}, Shape{0, 4}}) {
    const Tensor x = counted(shape), y = transpose(x);
    ASSERT_EQ(y.shape(), (Shape{shape[1], shape[0]}));
    bool all_equal = true;
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = 0; j < shape[1]; ++j) all_equal = all_equal && y.at({j, i}) == x.at({i, j});
    EXPECT_TRUE(all_equal) << to_text(shape);
    EXPECT_TRUE(same_bits(transpose(y), x));
  }
}

TEST(Shape, SliceIsPythons) {
  const Tensor x = counted({7});
  expect_values(slice(x, {range(1, 5, 2)}), {2}, {1, 3});
  expect_values(slice(x, {range(-3)}), {3}, {4, 5, 6});
  expect_values(slice(x, {range(SliceIndex::none, SliceIndex::none, -3)}), {3}, {6, 3, 0});
  expect_values(slice(x, {range(-2, 1, -2)}), {2}, {5, 3});
  expect_values(slice(x, {range(100, -100, -4)}), {2}, {6, 2});
  expect_values(slice(x, {range(-100, 100)}), {7}, {0, 1, 2, 3, 4, 5, 6});
  expect_values(slice(x, {range(4, 2)}), {0}, {});
  expect_values(slice(x, {range(0, 7, std::numeric_limits<std::int64_t>::max())}), {1}, {0});
  expect_values(slice(x, {range(6, 0, -std::numeric_limits<std::int64_t>::max())}), {1}, {6});
  expect_values(slice(x, {-7}), {}, {0});
  expect_values(slice(counted({2, 3}), {all, new_axis, -1}), {2, 1}, {2, 5});
  expect_values(slice(counted({2, 3}), {new_axis, 1, range(1)}), {1, 2}, {4, 5});
  expect_values(slice(counted({}), {}), {}, {0});
  expect_values(slice(counted({}), {new_axis, new_axis}), {1, 1}, {0});
  expect_values(slice(counted({0, 3}), {range(SliceIndex::none, SliceIndex::none, -1)}), {0, 3}, {});
  EXPECT_EQ(slice(indices({{1, 2}, {3, 4}}), {all, 1}).values<std::int64_t>()[1], 4);
}

TEST(Shape, SliceOfTheFirstAxisSharesTheStorage) {
  const Tensor x = counted({4, 3});
  EXPECT_EQ(slice(x, {range(1, 3)}).values<double>().data(), x.values<double>().data() + 3);
  EXPECT_EQ(x[-1].values<double>().data(), x.values<double>().data() + 9);
  EXPECT_EQ(slice(x, {2, all}).values<double>().data(), x.values<double>().data() + 6);
  const Tensor copy = slice(x, {range(0, 4, 2)});
  copy.mutable_values<double>()[0] = -1;
  EXPECT_EQ(x.at({0, 0}), 0);
  x[1].mutable_values<double>()[2] = 50;
  EXPECT_EQ(x.at({1, 2}), 50);
}

TEST(Shape, ConcatStackSplit) {
  const Tensor a = counted({1, 2}), b = counted({2, 2}) + 10.0, none = counted({0, 2});
  expect_values(concat({a, none, b}), {3, 2}, {0, 1, 10, 11, 12, 13});
  expect_values(concat({b, b}, -1), {2, 4}, {10, 11, 10, 11, 12, 13, 12, 13});
  expect_values(stack({counted({}), counted({})}), {2}, {0, 0});
  expect_values(stack({b, b + 5.0}, 1), {2, 2, 2}, {10, 11, 15, 16, 12, 13, 17, 18});
  const Tensors parts = split(counted({2, 5}), {2, 0, 3}, 1);
  ASSERT_EQ(parts.size(), 3u);
  expect_values(parts[0], {2, 2}, {0, 1, 5, 6});
  expect_values(parts[1], {2, 0}, {});
  expect_values(parts[2], {2, 3}, {2, 3, 4, 7, 8, 9});
  EXPECT_TRUE(same_bits(concat(parts, 1), counted({2, 5})));
}

TEST(Shape, ConcatOfDoublesAndDuals) {
  const Tensor y = concat({ones({2}, f64), ones({1}, dual)});
  EXPECT_EQ(y.dtype(), dual);
  EXPECT_EQ(y.values<Dual>()[1].value, 1);
  EXPECT_EQ(stack({ones({2}, dual), ones({2}, f64)}).dtype(), dual);
}

TEST(Shape, BroadcastFlipPad) {
  expect_values(broadcast_to(counted({2, 1}), {2, 2, 3}), {2, 2, 3}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  expect_values(broadcast_to(counted({}), {2}), {2}, {0, 0});
  expect_values(broadcast_to(counted({1, 3}), {0, 3}), {0, 3}, {});
  expect_values(flip(counted({2, 3}), 0), {2, 3}, {3, 4, 5, 0, 1, 2});
  expect_values(flip(counted({2, 3}), -1), {2, 3}, {2, 1, 0, 5, 4, 3});
  expect_values(flip(counted({0, 3}), 0), {0, 3}, {});
  expect_values(pad(counted({1, 2}), {{1, 0}, {0, 1}}), {2, 3}, {0, 0, 0, 0, 1, 0});
  expect_values(pad(counted({0}), {{1, 2}}), {3}, {0, 0, 0});
  expect_values(pad(counted({2, 3}), {{-1, 1}, {1, -2}}), {2, 2}, {0, 3, 0, 0});
  expect_values(pad(counted({3}), {{-1, -2}}), {0}, {});
  expect_values(pad(counted({}), std::span<const Padding>()), {}, {0});
}

TEST(Shape, EveryDtypeMoves) {
  for (const Dtype dtype : {f32, f64, i64, dual}) {
    const Tensor x = counted({2, 3}, dtype);
    EXPECT_EQ(transpose(x).at({2, 1}), 5);
    EXPECT_EQ(flip(x, 0).at({0, 2}), 5);
    EXPECT_EQ(concat({x, x}, 1).at({1, 5}), 5);
    EXPECT_EQ(pad(x, {{1, 1}, {1, 1}}).at({2, 3}), 5);
    EXPECT_EQ(broadcast_to(x, {2, 2, 3}).at({1, 1, 2}), 5);
    EXPECT_EQ(split(x, {2, 1}, 1)[1].at({1, 0}), 5);
  }
}

/// A backward writes each element of a gradient once, whatever the number of threads.
TEST(Shape, ThreadsChangeNothing) {
  const auto gradient = [](int count) {
    const ThreadsScope scope(count);
    const Tensor x = parameter(counted({40, 50, 60}));
    Tape tape;
    const Tensor y = concat({transpose(x, {2, 0, 1}), flip(transpose(x, {2, 0, 1}), 0)}, 2);
    const Tensor loss = sum(square(slice(y, {range(SliceIndex::none, SliceIndex::none, 2), range(3)})) * 0.001);
    tape.backward(loss);
    return x.grad();
  };
  const Tensor one = gradient(1), four = gradient(4);
  EXPECT_TRUE(same_bits(one, four));
}

TEST(Shape, Errors) {
  const Tensor x = counted({2, 3}).named("x"), y = counted({4});
  const auto shape_error = [](auto call, const char* message) { expect_error<ShapeError>(call, message); };
  shape_error([&] { reshape(x, {4}); }, "reshape: x[2, 3] has 6 elements and [4] has 4; the counts must be equal");
  shape_error([&] { squeeze(x, 1); },
              "squeeze: axis 1 of x[2, 3] has length 3; only an axis of length 1 can go: use slice or a reduction");
  shape_error([&] { transpose(y); }, "transpose: x[4] has no two axes to exchange; unsqueeze it first");
  shape_error([&] { transpose(x, {1}); }, "transpose: a permutation of 1 axes for x[2, 3]; name each axis once");
  shape_error(
      [&] {
        transpose(x, {1, -1});
      },
      "transpose: axis 1 of x[2, 3] is named twice in the permutation; name each axis once");
  shape_error(
      [&] {
        slice(x, {0, 0, 0});
      },
      "slice: 3 entries for x[2, 3], which has fewer axes; give at most one per axis");
  shape_error([&] { concat({}); }, "concat: there are no parts; give at least one");
  shape_error(
      [&] {
        concat({x, y});
      },
      "concat: x[2, 3] and x1[4] along axis 0: all other extents must be equal; reshape or slice one of them");
  shape_error([&] { stack({x, y}); }, "stack: x[2, 3] and x1[4]: shapes must be equal; reshape one of them");
  shape_error(
      [&] {
        split(x, {1, 1}, 1);
      },
      "split: the sizes sum to 2, but axis 1 of x[2, 3] has 3; they must be equal");
  shape_error(
      [&] {
        split(x, {-1, 4}, 1);
      },
      "split: a size of -1 does not fit axis 1 of x[2, 3]; sizes are 0 or more and sum to its length");
  shape_error([&] { broadcast_to(x, {3}); },
              "broadcast_to: x[2, 3] does not fit into [3]; only axes of length 1 are repeated");
  shape_error([&] { pad(x, {{1, 1}}); }, "pad: 1 paddings for x[2, 3]; give one per axis");
  shape_error(
      [&] {
        pad(y, {{std::numeric_limits<std::int64_t>::min(), 1}});
      },
      "pad: -9223372036854775808 and 1 cut more than axis 0 of x[4] has; cut less");
  expect_error<IndexError>(
      [&] {
        slice(x, {all, 3});
      },
      "slice: index 3 is outside axis 1 of x[2, 3]; it runs from -3 to 2");
  expect_error<IndexError>([&] { x[-3]; }, "slice: index -3 is outside axis 0 of x[2, 3]; it runs from -2 to 1");
  expect_error<ValueError>([&] { slice(x, {range(0, 1, 0)}); },
                           "slice: a step of 0 along axis 0 of x[2, 3] goes nowhere; use a positive or a negative one");
  expect_error<DtypeError>(
      [&] {
        concat({x, counted({2, 3}, f32)});
      },
      dtypes_differ("concat", "x[2, 3] is f64", "x1[2, 3] is f32"));
  EXPECT_THROW(flip(x, 2), ShapeError);
  EXPECT_THROW(slice(counted({1, 1, 1, 1, 1, 1, 1, 1}), {new_axis}), ShapeError);
  EXPECT_THROW(unsqueeze(counted({1, 1, 1, 1, 1, 1, 1, 1}), 0), ShapeError);
}

}  // namespace
}  // namespace retrace
