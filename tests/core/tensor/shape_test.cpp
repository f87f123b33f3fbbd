// Shapes: counting, axes, limits, and the broadcasting rule.
#include <retrace/core/tensor/shape.h>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include <retrace/core/tensor/tensor.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 40;

TEST(ShapeClass, CountsElements) {
  struct Row {
    Shape shape;
    int rank;
    std::int64_t numel;
    std::string text;
  };
  for (const auto& [shape, rank, numel, want] :
       std::vector<Row>{{{}, 0, 1, "[]"},
                        {{5}, 1, 5, "[5]"},
                        {{2, 3, 4}, 3, 24, "[2, 3, 4]"},
                        {{2, 0, 3}, 3, 0, "[2, 0, 3]"},
                        {{1, 1}, 2, 1, "[1, 1]"},
                        {{2, 1, 2, 1, 2, 1, 2, 3}, 8, 48, "[2, 1, 2, 1, 2, 1, 2, 3]"}}) {
    EXPECT_EQ(shape.rank(), rank) << want;
    EXPECT_EQ(shape.numel(), numel) << want;
    EXPECT_EQ(to_text(shape), want);
    EXPECT_EQ(shape.end() - shape.begin(), rank);
  }
}

TEST(ShapeClass, IsEqualWhereAllExtentsAre) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2, 3}), (Shape{6}));
  EXPECT_NE((Shape{2, 3}), (Shape{2, 3, 1}));
  EXPECT_NE((Shape{0, 3}), (Shape{0, 4}));
  EXPECT_NE((Shape{}), (Shape{1}));
}

TEST(ShapeClass, AxesCountFromEitherEnd) {
  const Shape shape{2, 3, 4};
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_EQ(shape[axis], axis + 2);
    EXPECT_EQ(shape[axis - 3], axis + 2);
  }
  expect_error<ShapeError>([&] { shape[3]; }, "Shape: [2, 3, 4] has no axis 3; axes run from -3 to 2");
  expect_error<ShapeError>([&] { shape[-4]; }, "Shape: [2, 3, 4] has no axis -4; axes run from -3 to 2");
  EXPECT_THROW(Shape()[0], ShapeError);
  EXPECT_THROW(Shape()[-1], ShapeError);
}

TEST(ShapeClass, AreEditedAxisByAxis) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.inserted(0, 7), (Shape{7, 2, 3, 4}));
  EXPECT_EQ(shape.inserted(3, 7), (Shape{2, 3, 4, 7}));
  EXPECT_EQ(shape.replaced(1, 0), (Shape{2, 0, 4}));
  EXPECT_EQ(shape.replaced(1, 0).numel(), 0);
  EXPECT_EQ(shape.replaced(1, 0).replaced(1, 5).numel(), 40);
  EXPECT_EQ(shape.erased(0), (Shape{3, 4}));
  EXPECT_EQ(shape.erased(2), (Shape{2, 3}));
  EXPECT_EQ(Shape{5}.erased(0), Shape());
  EXPECT_EQ(shape.first(2), (Shape{2, 3}));
  EXPECT_EQ(shape.first(0), Shape());
  EXPECT_EQ(shape.last(1), Shape{4});
  EXPECT_EQ(shape.joined({5, 6}), (Shape{2, 3, 4, 5, 6}));
  EXPECT_EQ(shape.joined({}), shape);
  EXPECT_EQ(Shape().joined(shape), shape);
}

TEST(ShapeClass, StridesAreTheProductsOfWhatFollows) {
  const auto strides = Shape{5, 3, 4}.strides();
  EXPECT_EQ(strides[0], 12);
  EXPECT_EQ(strides[1], 4);
  EXPECT_EQ(strides[2], 1);
}

TEST(ShapeClass, HasAtMostEightAxes) {
  const Shape eight{1, 2, 1, 2, 1, 2, 1, 2};
  const std::string nine = "Shape: 9 axes are more than the 8 that a tensor can have; reshape some of them together";
  expect_error<ShapeError>([] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }, nine);
  expect_error<ShapeError>([&] { eight.inserted(8, 1); }, nine);
  expect_error<ShapeError>([&] { eight.joined({1}); }, nine);
  EXPECT_THROW(eight.joined(eight), ShapeError);
  expect_error<ShapeError>([] { Shape{2, -1}; }, "Shape: an extent of -1 is negative; extents are 0 or more");
}

TEST(ShapeClass, TheCountSaturatesInsteadOfOverflowing) {
  EXPECT_EQ((Shape{huge, 64}.numel()), max_elements);
  EXPECT_GT((Shape{huge, 65}.numel()), max_elements);
  EXPECT_GT((Shape{huge, huge, huge, huge}.numel()), max_elements);
  EXPECT_GT((Shape{std::numeric_limits<std::int64_t>::max(), 2}.numel()), max_elements);
  EXPECT_EQ((Shape{huge, huge, 0, huge}.numel()), 0);
  EXPECT_NO_THROW(check_numel({huge, 64}, "empty"));
  const std::string too_large = "empty: [1099511627776, 65] has more elements than memory can hold; check the extents";
  expect_error<ShapeError>([] { check_numel({huge, 65}, "empty"); }, too_large);
  expect_error<ShapeError>([] { empty({huge, 65}); }, too_large);
}

/// NumPy's rule, in both orders of the operands.
TEST(Broadcasting, GivesTheShapeThatBothFit) {
  struct Row {
    Shape a, b, result;
  };
  for (const auto& [a, b, result] : std::vector<Row>{{{2, 3}, {2, 3}, {2, 3}},
                                                     {{2, 3}, {3}, {2, 3}},
                                                     {{2, 3}, {}, {2, 3}},
                                                     {{}, {}, {}},
                                                     {{2, 1}, {1, 3}, {2, 3}},
                                                     {{4, 1, 3}, {2, 1}, {4, 2, 3}},
                                                     {{1}, {1, 1, 1}, {1, 1, 1}},
                                                     {{0}, {1}, {0}},
                                                     {{0, 3}, {2, 1, 3}, {2, 0, 3}},
                                                     {{1, 0}, {5, 1}, {5, 0}},
                                                     {{1, 2, 1, 2, 1, 2, 1, 2}, {2}, {1, 2, 1, 2, 1, 2, 1, 2}}}) {
    EXPECT_EQ(broadcast_shapes(a, b, "add"), result) << to_text(a) << to_text(b);
    EXPECT_EQ(broadcast_shapes(b, a, "add"), result) << to_text(b) << to_text(a);
  }
}

TEST(Broadcasting, NamesTheLastAxisThatDoesNotFit) {
  expect_error<ShapeError>(
      [] {
        broadcast_shapes({2, 3}, {2, 4}, "add");
      },
      "add: a[2, 3] and b[2, 4] do not broadcast: axis -1 is 3 and 4, but must be equal or 1; "
      "reshape or transpose one of them");
  expect_error<ShapeError>(
      [] {
        broadcast_shapes({2, 5, 3}, {4, 1}, "where", "x", "condition");
      },
      "where: x[2, 5, 3] and condition[4, 1] do not broadcast: axis -2 is 5 and 4, but must be "
      "equal or 1; reshape or transpose one of them");
  EXPECT_THROW(broadcast_shapes({0}, {3}, "add"), ShapeError);
  EXPECT_THROW(broadcast_shapes({2, 3}, {3, 2}, "add"), ShapeError);
  EXPECT_THROW(broadcast_shapes({2}, {2, 3}, "add"), ShapeError);
}

}  // namespace
}  // namespace retrace
