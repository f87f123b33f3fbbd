// Triangles and diagonals of matrices, repeated and rolled tensors.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/error_table.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

TEST(Triangles, AreTheirDefinition) {
  for (const Shape& shape : {Shape{3, 4}, Shape{4, 3}, Shape{2, 3, 3}, Shape{2, 1, 4}})
    for (const std::int64_t diagonal : {-5, -1, 0, 1, 2, 7}) {
      const Tensor x = counted(shape) + 1, lower = tril(x, diagonal), upper = triu(x, diagonal);
      const std::int64_t rows = shape[-2], columns = shape[-1];
      for (std::int64_t k = 0; k < x.numel(); ++k) {
        const std::size_t at = static_cast<std::size_t>(k);
        const std::int64_t above = k % columns - k / columns % rows;
        EXPECT_EQ(lower.values<double>()[at], above <= diagonal ? x.values<double>()[at] : 0) << shape << diagonal;
        EXPECT_EQ(upper.values<double>()[at], above >= diagonal ? x.values<double>()[at] : 0) << shape << diagonal;
      }
    }
  EXPECT_EQ(tril(zeros({3, 0})).shape(), (Shape{3, 0}));
  EXPECT_EQ(triu(zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(list(triu(indices({{1, 2}, {3, 4}}))), (Numbers{1, 2, 0, 4}));
}

TEST(Triangles, HideWhatIsNotFinite) {
  expect_values(tril(tensor({{1.0, nan}, {2.0, infinity}}, f64), -1), {2, 2}, {0, 0, 2, 0});
}

TEST(Diagonals, OfMatrices) {
  const Tensor x = counted({3, 4});
  expect_values(diagonal(x), {3}, {0, 5, 10});
  expect_values(diagonal(x, 1), {3}, {1, 6, 11});
  expect_values(diagonal(x, 3), {1}, {3});
  expect_values(diagonal(x, -2), {1}, {8});
  expect_values(diagonal(x, 4), {0}, {});
  expect_values(diagonal(x, -3), {0}, {});
  expect_values(diagonal(x, std::numeric_limits<std::int64_t>::min()), {0}, {});
  expect_values(diagonal(counted({2, 2, 3}), 1), {2, 2}, {1, 5, 7, 11});
  expect_values(diagonal(zeros({2, 0, 3}, f64)), {2, 0}, {});
}

TEST(Diagonals, BecomeMatrices) {
  expect_values(diag_embed(tensor({1, 2}, f64)), {2, 2}, {1, 0, 0, 2});
  expect_values(diag_embed(tensor({1, 2}, f64), 1), {3, 3}, {0, 1, 0, 0, 0, 2, 0, 0, 0});
  expect_values(diag_embed(tensor({{1}, {2}}, f64), -1), {2, 2, 2}, {0, 0, 1, 0, 0, 0, 2, 0});
  expect_values(diag_embed(zeros({0}, f64), 1), {1, 1}, {0});
  for (const std::int64_t offset : {-2, 0, 3})
    expect_values(diagonal(diag_embed(counted({2, 3}), offset), offset), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_values(diag(tensor({1, 2}, f64)), {2, 2}, {1, 0, 0, 2});
  expect_values(diag(counted({2, 3}), 1), {2}, {1, 5});
  EXPECT_EQ(list(diag(indices({3, 4}))), (Numbers{3, 0, 0, 4}));
}

TEST(Repeat, PutsCopiesSideBySide) {
  const Tensor x = counted({1, 2});
  expect_values(repeat(x, {2, 2}), {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  expect_values(repeat(counted({2, 2}), {1, 2}), {2, 4}, {0, 1, 0, 1, 2, 3, 2, 3});
  expect_values(repeat(counted({2, 2}), {2, 1}), {4, 2}, {0, 1, 2, 3, 0, 1, 2, 3});
  expect_values(repeat(counted({2}), {2, 1, 2}), {2, 1, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  expect_values(repeat(number(3), {2}), {2}, {3, 3});
  expect_values(repeat(x, {1, 0}), {1, 0}, {});
  expect_values(repeat(zeros({0, 2}, f64), {3, 2}), {0, 4}, {});
  EXPECT_EQ(list(repeat(indices({4, 5}), {2})), (Numbers{4, 5, 4, 5}));
  EXPECT_EQ(repeat(ones({1, 1, 1, 1, 1, 1, 1, 2}), {1, 1, 1, 1, 1, 1, 2, 3}).shape(), (Shape{1, 1, 1, 1, 1, 1, 2, 6}));
}

TEST(Roll, GoesAround) {
  const Tensor x = counted({5});
  expect_values(roll(x, 1, 0), {5}, {4, 0, 1, 2, 3});
  expect_values(roll(x, -2, 0), {5}, {2, 3, 4, 0, 1});
  expect_values(roll(x, 12, -1), {5}, {3, 4, 0, 1, 2});
  expect_values(roll(x, std::numeric_limits<std::int64_t>::min(), 0), {5}, {3, 4, 0, 1, 2});
  expect_values(roll(counted({2, 3}), 1, 0), {2, 3}, {3, 4, 5, 0, 1, 2});
  expect_values(roll(zeros({0, 3}, f64), 2, 0), {0, 3}, {});
  EXPECT_EQ(roll(x, 5, 0).values<double>().data(), x.values<double>().data()) << "no copy";
}

TEST(Diagonals, Errors) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { tril(with.vector); },
       "tril: x[3] is no matrix; it needs two axes or more: reshape it first"},
      {Mistake::shape, [](auto& with) { triu(with.number); },
       "triu: x[] is no matrix; it needs two axes or more: reshape it first"},
      {Mistake::shape, [](auto& with) { diagonal(with.vector); },
       "diagonal: x[3] is no matrix; it needs two axes or more: diag_embed makes a matrix of a vector"},
      {Mistake::shape, [](auto& with) { diag_embed(with.number); },
       "diag_embed: x[] is 0-d and has no axis; reshape it first"},
      {Mistake::shape, [](auto& with) { diag(with.cube); },
       "diag: x[2, 2, 3] is no vector and no matrix; use diag_embed for many vectors, diagonal for many matrices"},
      {Mistake::shape, [](auto& with) { repeat(with.matrix, {2}); },
       "repeat: 1 counts for x[2, 3], which has 2 axes; give one count per axis, 1 for an axis to leave"},
      {Mistake::shape, [](auto& with) { roll(with.matrix, 1, 2); },
       "roll: x[2, 3] has no axis 2; axes run from -2 to 1"},
  });
  for (const std::int64_t huge : {std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}}) {
    const Tensor x = parameter(ones({2, 3}));
    Tape tape;
    EXPECT_THROW(repeat(x, {1, huge}), ShapeError);
    EXPECT_EQ(tape.size(), 0);
  }
  EXPECT_THROW(repeat(ones({2}), {std::int64_t{1} << 30, std::int64_t{1} << 30}), ShapeError);
  EXPECT_THROW(diag_embed(ones({2}), std::numeric_limits<std::int64_t>::min()), ShapeError);
  EXPECT_THROW(diag_embed(ones({1, 1, 1, 1, 1, 1, 1, 2})), ShapeError);
}

}  // namespace
}  // namespace retrace
