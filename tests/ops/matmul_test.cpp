// matmul, linear and outer: NumPy's rules against plain loops in f64, values and gradients.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

/// The offset of the matrix of an operand with these batch axes, for one index of the broadcast batch.
std::int64_t matrix_of(const Shape& batch, const Shape& broadcast, std::int64_t index) {
  std::int64_t at = 0, stride = 1;
  for (int axis = 1; axis <= broadcast.rank(); ++axis) {
    const std::int64_t position = index % broadcast[-axis];
    index /= broadcast[-axis];
    if (axis > batch.rank()) continue;
    at += batch[-axis] == 1 ? 0 : position * stride;
    stride *= batch[-axis];
  }
  return at;
}

struct Product {
  Tensor y, da, db;
};

/// Y = A B and dA = dY B^T, dB = A^T dY, summed over broadcast batches: one multiplication after the other. The
/// operands are matrices or batches of them, not transposed.
Product plain_product(const Tensor& a, const Tensor& b, const Tensor& dy) {
  const Shape batch_a = a.shape().first(a.rank() - 2), batch_b = b.shape().first(b.rank() - 2);
  const Shape batch = dy.shape().first(dy.rank() - 2);
  const std::int64_t m = a.dim(-2), inner = a.dim(-1), n = b.dim(-1);
  const Product result{zeros_like(dy), zeros_like(a), zeros_like(b)};
  const auto of_a = a.values<double>(), of_b = b.values<double>(), of_dy = dy.values<double>();
  const auto y = result.y.mutable_values<double>(), da = result.da.mutable_values<double>();
  const auto db = result.db.mutable_values<double>();
  for (std::int64_t item = 0; item < batch.numel(); ++item)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < inner; ++k) {
          const auto at_y = static_cast<std::size_t>((item * m + i) * n + j);
          const auto at_a = static_cast<std::size_t>((matrix_of(batch_a, batch, item) * m + i) * inner + k);
          const auto at_b = static_cast<std::size_t>((matrix_of(batch_b, batch, item) * inner + k) * n + j);
          y[at_y] += of_a[at_a] * of_b[at_b];
          da[at_a] += of_dy[at_y] * of_b[at_b];
          db[at_b] += of_dy[at_y] * of_a[at_a];
        }
  return result;
}

Product product(const Tensor& a, const Tensor& b, const Tensor& dy, MatmulOptions options = {}) {
  const Tensor of_a = parameter(a), of_b = parameter(b);
  Tape tape;
  const Tensor y = matmul(of_a, of_b, options);
  tape.backward({y}, {dy});
  return {y, of_a.grad(), of_b.grad()};
}

/// Shapes that broadcast to the batch: its last axes, with some of them 1.
Shape part_of_batch(const Shape& batch, Random& random) {
  Shape part = batch.last(static_cast<int>(random.integer(batch.rank() + 1)));
  for (int axis = 0; axis < part.rank(); ++axis)
    if (random.chance(0.3)) part = part.replaced(axis, 1);
  return part;
}

struct Problem {
  Shape a, b, y;
  MatmulOptions options;
};

Problem random_problem(Random& random) {
  const std::int64_t most = random.chance(0.2) ? 70 : 9;
  const auto length = [&] { return random.chance(0.06) ? 0 : 1 + random.integer(most); };
  Shape batch;
  for (std::int64_t axes = random.integer(4); axes > 0; --axes) batch = batch.inserted(0, 1 + random.integer(3));
  const Shape of_a = part_of_batch(batch, random), of_b = part_of_batch(batch, random);
  const std::int64_t m = length(), inner = length(), n = length();
  return {of_a.joined({m, inner}),
          of_b.joined({inner, n}),
          broadcast_shapes(of_a, of_b, "random_problem").joined({m, n}),
          {.transpose_a = random.chance(0.5), .transpose_b = random.chance(0.5)}};
}

Tensor turned(const Tensor& x, bool turn) { return turn ? transpose(x) : x; }

TEST(Matmul, EqualsPlainLoopsForRandomShapesAndBothGradients) {
  Random random(1);
  for (int trial = 0; trial < 60; ++trial) {
    const Problem problem = random_problem(random);
    const bool by_columns = problem.options.transpose_a, by_rows = problem.options.transpose_b;
    const Tensor a = random.normal(problem.a, f64), b = random.normal(problem.b, f64);
    const Tensor dy = random.normal(problem.y, f64);
    const Product want = plain_product(a, b, dy);
    for (const Dtype dtype : {f64, f32}) {
      const auto in_dtype = [=](const Tensor& x, bool turn) { return turned(x, turn).to(dtype); };
      const Product got = product(in_dtype(a, by_columns), in_dtype(b, by_rows), dy.to(dtype), problem.options);
      const double limit = dtype == f64 ? 1e-12 : 2e-4;
      const std::string what = text(problem.a, by_columns ? "^T " : " ", problem.b, by_rows ? "^T" : "", ", ", dtype);
      expect_near(got.y, want.y, limit, "y of " + what);
      expect_near(turned(got.da, by_columns), want.da, limit, "da of " + what);
      expect_near(turned(got.db, by_rows), want.db, limit, "db of " + what);
    }
  }
}

/// A vector is a row on the left and a column on the right; the result does not have that axis.
TEST(Matmul, OfVectorsIsTheProductOfRowsAndColumns) {
  Random random(2);
  const auto check = [&](const Shape& a_shape, const Shape& b_shape, const Shape& y_shape) {
    const Tensor a = random.normal(a_shape, f64), b = random.normal(b_shape, f64), dy = random.normal(y_shape, f64);
    const Tensor row = a.rank() == 1 ? unsqueeze(a, 0) : a, column = b.rank() == 1 ? unsqueeze(b, 1) : b;
    const Tensor dy_of_both = reshape(dy, matmul(row, column).shape());
    const Product got = product(a, b, dy), want = plain_product(row, column, dy_of_both);
    const std::string what = text(a_shape, " ", b_shape);
    expect_near(got.y, reshape(want.y, y_shape), 1e-13, what);
    expect_near(got.da, reshape(want.da, a_shape), 1e-13, what);
    expect_near(got.db, reshape(want.db, b_shape), 1e-13, what);
  };
  check({4}, {4}, {});
  check({4}, {4, 3}, {3});
  check({3, 4}, {4}, {3});
  check({4}, {2, 5, 4, 3}, {2, 5, 3});
  check({2, 5, 3, 4}, {4}, {2, 5, 3});
  check({1}, {1}, {});
}

TEST(Matmul, AVectorMeetsATransposedMatrix) {
  const Tensor v = distinct({4}, 0.3), matrix = distinct({3, 4}, 0.8);
  expect_near(matmul(v, matrix, {.transpose_b = true}), matmul(v, transpose(matrix)), 1e-15, "on the left");
  expect_near(matmul(transpose(matrix), v, {.transpose_a = true}), matmul(matrix, v), 1e-15, "on the right");
}

TEST(Matmul, AnInnerLengthOfZeroGivesZerosAndEmptyGivesEmpty) {
  const auto check = [](const Shape& a_shape, const Shape& b_shape, const Shape& y_shape) {
    const Tensor a = full(a_shape, 2, f64), b = full(b_shape, 3, f64);
    const Product got = product(a, b, full(y_shape, 5, f64));
    EXPECT_TRUE(same_bits(got.y, zeros(y_shape, f64))) << text(a_shape, " ", b_shape);
    EXPECT_TRUE(same_bits(got.da, zeros(a_shape, f64))) << text(a_shape, " ", b_shape);
    EXPECT_TRUE(same_bits(got.db, zeros(b_shape, f64))) << text(a_shape, " ", b_shape);
  };
  check({2, 0}, {0, 3}, {2, 3});
  check({0}, {0}, {});
  check({0}, {0, 3}, {3});
  check({4, 2, 0}, {0, 3}, {4, 2, 3});
  check({0, 2}, {2, 3}, {0, 3});
  check({2, 3}, {3, 0}, {2, 0});
  check({0, 2, 3}, {3, 4}, {0, 2, 4});
  check({2, 3}, {0, 3, 4}, {0, 2, 4});
  check({0, 2, 3}, {1, 3, 4}, {0, 2, 4});
}

TEST(Matmul, NanInIsNanOutInItsRowOrColumn) {
  const Tensor a = tensor({{1, nan}, {3, 4}}, f64), b = zeros({2, 2}, f64);
  const Tensor y = matmul(a, b);
  EXPECT_TRUE(std::isnan(y.at({0, 0})) && std::isnan(y.at({0, 1})));
  EXPECT_TRUE(same_bits(y[1], zeros({2}, f64)));
  EXPECT_TRUE(std::isnan(matmul(b, a).at({1, 1})));
  EXPECT_EQ(matmul(b, a).at({1, 0}), 0);
}

TEST(Linear, IsMatmulWithTheTransposedWeightPlusBias) {
  Random random(3);
  const auto check = [&](const Shape& shape, std::int64_t out) {
    const Tensor x = parameter(random.normal(shape, f64)), w = parameter(random.normal({out, shape[-1]}, f64));
    const Tensor bias = parameter(random.normal({out}, f64)), dy = random.normal(matmul(x, transpose(w)).shape(), f64);
    const auto results = [&](const auto& f) {
      for (const Tensor& leaf : {x, w, bias}) leaf.zero_grad();
      Tape tape;
      const Tensor y = f();
      tape.backward({y}, {dy});
      return Tensors{y, x.grad(), w.grad(), bias.has_grad() ? bias.grad() : Tensor()};
    };
    const Tensors got = results([&] { return linear(x, w, bias); });
    const Tensors want = results([&] { return matmul(x, transpose(w)) + bias; });
    for (std::size_t part = 0; part < 4; ++part) expect_near(got[part], want[part], 1e-12, text("part ", part, shape));
    const Tensors bare = results([&] { return linear(x, w); });
    expect_near(bare[0], matmul(x, w, {.transpose_b = true}), 1e-12, text("no bias ", shape));
    for (std::size_t part = 1; part < 3; ++part) expect_near(bare[part], want[part], 1e-12, text("no bias ", shape));
    EXPECT_FALSE(bare[3].defined());
  };
  check({5}, 3);
  check({4, 5}, 1);
  check({2, 3, 7}, 9);
  check({40, 33}, 65);
  check({0, 5}, 3);
  check({4, 0}, 3);
}

TEST(Outer, IsEveryProductOfTwoElements) {
  const Tensor a = distinct({3}, 0.2), b = distinct({4}, 0.7), y = outer(a, b);
  ASSERT_EQ(y.shape(), (Shape{3, 4}));
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 4; ++j) EXPECT_EQ(y.at({i, j}), a.at({i}) * b.at({j}));
  EXPECT_EQ(outer(zeros({0}, f64), b).shape(), (Shape{0, 4}));
}

TEST(Products, ARowOfABatchIsThatRowAlone) {
  Random random(4);
  for (const std::int64_t width : {3, 33, 130}) {
    const Tensor x = random.normal({77, width}, f32), w = random.normal({50, width}, f32), b = random.normal({50}, f32);
    const Tensor y = linear(x, w, b), product = matmul(x, w, {.transpose_b = true});
    const Tensor columns = transpose(w).clone(), plain = matmul(x, columns);
    const Tensor stacked = reshape(x, {7, 11, width}), batch = matmul(stacked, broadcast_to(columns, {7, width, 50}));
    for (const std::int64_t row : {0, 40, 76}) {
      EXPECT_TRUE(same_bits(linear(x[row], w, b), y[row])) << width;
      EXPECT_TRUE(same_bits(matmul(x[row], w, {.transpose_b = true}), product[row])) << width;
      EXPECT_TRUE(same_bits(matmul(x[row], columns), plain[row])) << width;
    }
    EXPECT_TRUE(same_bits(matmul(stacked[5], columns), batch[5])) << width;
    EXPECT_TRUE(same_bits(matmul(stacked, columns)[5], batch[5])) << width;
  }
}

TEST(Products, ThreadsChangeNothing) {
  Random random(5);
  const Tensor a = random.normal({6, 150, 90}, f32), b = random.normal({6, 90, 110}, f32);
  const Tensor dy = random.normal({6, 150, 110}, f32);
  for (const auto& [left, right] : {std::pair(a, b), std::pair(a, b[2]), std::pair(a[1], b)}) {
    const ThreadsScope on_one(1);
    const Product one = product(left, right, dy);
    const ThreadsScope on_two(2);
    const Product two = product(left, right, dy);
    EXPECT_TRUE(same_bits(one.y, two.y) && same_bits(one.da, two.da) && same_bits(one.db, two.db));
  }
}

}  // namespace
}  // namespace retrace
