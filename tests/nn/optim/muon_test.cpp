// Muon against its formula in plain loops, and what makes its steps those of an orthogonal matrix.
#include <retrace/nn/optim/muon.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <retrace/core/tape/identity.h>
#include <retrace/core/tape/tape.h>
#include <retrace/nn/optim/optimizers.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

/// A matrix of plain doubles.
struct Plain {
  std::size_t rows, columns;
  std::vector<double> values;
  double& at(std::size_t i, std::size_t j) { return values[i * columns + j]; }
  double at(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};

Plain plain(const Tensor& x) {
  return {static_cast<std::size_t>(x.dim(0)), static_cast<std::size_t>(x.dim(1)),
          std::vector<double>(x.values<double>().begin(), x.values<double>().end())};
}

Plain transposed(const Plain& a) {
  Plain result{a.columns, a.rows, std::vector<double>(a.values.size())};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) result.at(j, i) = a.at(i, j);
  return result;
}

Plain product(const Plain& a, const Plain& b) {
  Plain result{a.rows, b.columns, std::vector<double>(a.rows * b.columns)};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.columns; ++j)
      for (std::size_t k = 0; k < a.columns; ++k) result.at(i, j) += a.at(i, k) * b.at(k, j);
  return result;
}

Plain sum(double a, const Plain& x, double b, const Plain& y) {
  Plain result = x;
  for (std::size_t k = 0; k < x.values.size(); ++k) result.values[k] = a * x.values[k] + b * y.values[k];
  return result;
}

/// The iteration of Jordan et al., from the left, whatever the shape.
Plain orthogonal(Plain x) {
  double squares = 0;
  for (const double value : x.values) squares += value * value;
  x = sum(1 / std::sqrt(squares), x, 0, x);
  for (int step = 0; step < 5; ++step) {
    const Plain once = product(product(x, transposed(x)), x), twice = product(product(x, transposed(x)), once);
    x = sum(1, sum(3.4445, x, -4.775, once), 2.0315, twice);
  }
  return x;
}

void backward(const Tensor& weight, const Tensor& gradient) {
  Tape tape;
  tape.backward(Tensors{identity(weight)}, Tensors{gradient});
}

void expect_near(const Tensor& got, const Plain& want, const std::string& what) {
  for (std::size_t k = 0; k < want.values.size(); ++k)
    ASSERT_NEAR(got.values<double>()[k], want.values[k], 1e-11) << what << ", element " << k;
}

TEST(Muon, IsItsFormulaForWideAndTallMatrices) {
  for (const Shape& shape : {Shape{16, 16}, Shape{16, 30}, Shape{40, 17}}) {
    Random random(5);
    const Parameter weight(random.normal(shape, 0, 1, f64));
    const MuonOptions options{.lr = 0.03, .momentum = 0.8, .weight_decay = 0.1};
    Muon muon(std::vector<NamedTensor>{{"w", weight}}, options);
    Plain w = plain(weight), m = sum(0, w, 0, w);
    for (int t = 1; t <= 3; ++t) {
      const Tensor gradient = random.normal(shape, 0, t, f64);
      backward(weight, gradient);
      muon.step();
      m = sum(0.8, m, 1, plain(gradient));
      const Plain direction = orthogonal(sum(1, plain(gradient), 0.8, m));
      w = sum(1 - 0.03 * 0.1, w, -0.03 * 0.2 * std::sqrt(static_cast<double>(std::max(shape[0], shape[1]))), direction);
      expect_near(weight, w, "step " + std::to_string(t));
    }
  }
}

/// Whatever the size of the gradient, a step's largest change of an output is about the same: the singular values of
/// the step, divided by its scale, are around 1. Their mean square is that of the elements.
TEST(Muon, AStepIsNearlyOrthogonalWhateverTheSizeOfTheGradient) {
  for (const double size : {1e-12, 1.0, 1e12}) {
    Random random(6);
    const Parameter weight(zeros({20, 60}, f64));
    Muon muon(std::vector<NamedTensor>{{"w", weight}}, MuonOptions{.lr = 1});
    backward(weight, random.normal({20, 60}, 0, size, f64));
    muon.step();
    const Plain step = plain(weight * (1 / (0.2 * std::sqrt(60.0))));
    const Plain squares = product(step, transposed(step));
    for (std::size_t i = 0; i < squares.rows; ++i)
      for (std::size_t j = 0; j < squares.rows; ++j) {
        if (i == j) {
          EXPECT_GT(squares.at(i, j), 0.5) << size;
          EXPECT_LT(squares.at(i, j), 1.4) << size;
        } else {
          EXPECT_LT(std::abs(squares.at(i, j)), 0.4) << size;
        }
      }
  }
}

TEST(Muon, UpdatesEverythingElseAsAdamWDoes) {
  for (const Shape& shape : {Shape{}, Shape{40}, Shape{15, 40}, Shape{2, 20, 20}}) {
    Random random(7);
    const Tensor start = random.normal(shape, 0, 1, f64);
    const Parameter weight(start.clone()), other(start.clone());
    Muon muon(std::vector<NamedTensor>{{"w", weight}},
              MuonOptions{.lr = 0.02, .b1 = 0.7, .b2 = 0.8, .eps = 1e-3, .weight_decay = 0.3});
    AdamW adam(std::vector<NamedTensor>{{"w", other}},
               AdamOptions{.lr = 0.02, .b1 = 0.7, .b2 = 0.8, .eps = 1e-3, .weight_decay = 0.3});
    for (int t = 0; t < 3; ++t) {
      const Tensor gradient = random.normal(shape, 0, 1, f64);
      backward(weight, gradient);
      backward(other, gradient);
      muon.step();
      adam.step();
      for (std::int64_t k = 0; k < weight.numel(); ++k)
        EXPECT_EQ(weight.values<double>()[static_cast<std::size_t>(k)],
                  other.values<double>()[static_cast<std::size_t>(k)])
            << shape;
    }
  }
}

TEST(Muon, AZeroGradientChangesNothing) {
  const Parameter weight(ones({16, 16}, f64));
  Muon muon(std::vector<NamedTensor>{{"w", weight}}, MuonOptions{});
  backward(weight, zeros({16, 16}, f64));
  muon.step();
  for (const double value : weight.values<double>()) EXPECT_EQ(value, 1);
}

TEST(Muon, KeepsOneStateForAMatrixAndTwoForOthers) {
  const Parameter matrix(ones({16, 16})), row(ones({16}));
  const Muon muon(std::vector<NamedTensor>{{"matrix", matrix}, {"row", row}}, MuonOptions{});
  ASSERT_EQ(muon.slots().size(), 2U);
  ASSERT_EQ(muon.slots()[0].state.size(), 1U);
  EXPECT_EQ(muon.slots()[0].state[0].name, "matrix.m");
  ASSERT_EQ(muon.slots()[1].state.size(), 2U);
  EXPECT_EQ(muon.slots()[1].state[1].name, "row.v");
}

/// The products of a step belong to no tape, even when one is open.
TEST(Muon, RecordsNothing) {
  const Parameter weight(ones({16, 16}, f64));
  Muon muon(std::vector<NamedTensor>{{"w", weight}}, MuonOptions{});
  backward(weight, ones({16, 16}, f64));
  Tape tape;
  muon.step();
  EXPECT_EQ(tape.size(), 0);
}

}  // namespace
}  // namespace retrace
