// Adafactor against its formula in plain doubles, with the shapes of its state.
#include <retrace/nn/optim/adafactor.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Numbers = std::vector<double>;

double root_mean_square_of(const Numbers& numbers) {
  double squares = 0;
  for (const double x : numbers) squares += x * x;
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

/// A parameter [matrices, n, k] by the formula; with k = 0, one of n numbers without rows and columns.
struct PlainAdafactor {
  AdafactorOptions options;
  std::size_t matrices, n, k;
  Numbers w, r = Numbers(matrices * n), c = Numbers(matrices * k);

  double squared(const Numbers& g, double rest, std::size_t a, std::size_t i, std::size_t j) {
    if (k == 0) return r[i] += rest * (g[i] * g[i] - r[i]);
    double mean = 0;
    for (std::size_t row = 0; row < n; ++row) mean += r[a * n + row] / static_cast<double>(n);
    return r[a * n + i] * c[a * k + j] / std::max(mean, std::numeric_limits<double>::epsilon());
  }

  void step(const Numbers& g, int t) {
    const double rest = std::pow(t, -options.decay), e = std::numeric_limits<double>::epsilon();
    for (std::size_t a = 0; a < matrices && k > 0; ++a) {
      for (std::size_t i = 0; i < n; ++i) {
        double mean = 0;
        for (std::size_t j = 0; j < k; ++j) mean += std::pow(g[(a * n + i) * k + j], 2) / static_cast<double>(k);
        r[a * n + i] += rest * (mean - r[a * n + i]);
      }
      for (std::size_t j = 0; j < k; ++j) {
        double mean = 0;
        for (std::size_t i = 0; i < n; ++i) mean += std::pow(g[(a * n + i) * k + j], 2) / static_cast<double>(n);
        c[a * k + j] += rest * (mean - c[a * k + j]);
      }
    }
    Numbers u(w.size());
    const std::size_t columns = std::max<std::size_t>(k, 1);
    for (std::size_t p = 0; p < w.size(); ++p)
      u[p] = g[p] / std::sqrt(std::max(squared(g, rest, p / (n * columns), p / columns % n, p % columns), e * e));
    const double size = std::max(options.eps, root_mean_square_of(w)) * std::min(options.lr, 1 / std::sqrt(t));
    const double clipped = std::max(1.0, root_mean_square_of(u) / options.clip);
    for (std::size_t p = 0; p < w.size(); ++p)
      w[p] = (1 - options.lr * options.weight_decay) * w[p] - size * u[p] / clipped;
  }
};

void expect_adafactor(const Shape& shape, PlainAdafactor plain, double scale, double slope = 0.5) {
  Random random(5);
  const Parameter w(random.normal(shape, 0, scale, f64));
  plain.w.assign(w.values<double>().begin(), w.values<double>().end());
  Adafactor adafactor(std::vector<NamedTensor>{{"w", w}}, plain.options);
  for (int t = 1; t <= 5; ++t) {
    const Tensor g = random.normal(shape, 0, t == 3 ? 20 * slope : slope, f64);
    {
      Tape tape;
      tape.backward({identity(w)}, {g});
    }
    adafactor.step();
    plain.step(Numbers(g.values<double>().begin(), g.values<double>().end()), t);
    for (std::size_t p = 0; p < plain.w.size(); ++p)
      EXPECT_NEAR(w.values<double>()[p], plain.w[p], 1e-13 * std::abs(plain.w[p])) << shape << ", step " << t;
  }
}

TEST(AdafactorOptimizer, IsItsFormula) {
  const AdafactorOptions often{.lr = 0.9, .clip = 0.7}, decayed{.lr = 0.05, .decay = 0.5, .weight_decay = 0.3};
  for (const AdafactorOptions& options : {often, decayed}) {
    expect_adafactor({3, 4}, {.options = options, .matrices = 1, .n = 3, .k = 4, .w = {}}, 1);
    expect_adafactor({2, 3, 4}, {.options = options, .matrices = 2, .n = 3, .k = 4, .w = {}}, 1);
    expect_adafactor({2, 2, 1, 3}, {.options = options, .matrices = 4, .n = 1, .k = 3, .w = {}}, 1);
    expect_adafactor({5}, {.options = options, .matrices = 1, .n = 5, .k = 0, .w = {}}, 1);
    expect_adafactor({}, {.options = options, .matrices = 1, .n = 1, .k = 0, .w = {}}, 1e-5);
  }
}

TEST(AdafactorOptimizer, LeavesTinyGradientsTiny) {
  expect_adafactor({5}, {.options = {}, .matrices = 1, .n = 5, .k = 0, .w = {}}, 1, 1e-18);
  expect_adafactor({3, 4}, {.options = {}, .matrices = 1, .n = 3, .k = 4, .w = {}}, 1, 1e-18);
}

/// What it is for: a matrix of a million weights has 2,000 numbers of state.
TEST(AdafactorOptimizer, KeepsAsMuchAsTheSidesOfAMatrix) {
  const Adafactor adafactor(
      std::vector<NamedTensor>{{"w", Parameter(zeros({4, 300, 200}))}, {"b", Parameter(zeros({7}))}});
  const auto& slots = adafactor.slots();
  ASSERT_EQ(slots[0].state.size(), 2U);
  EXPECT_EQ(slots[0].state[0].name, "w.r");
  EXPECT_EQ(slots[0].state[0].tensor.shape(), (Shape{4, 300}));
  EXPECT_EQ(slots[0].state[1].name, "w.c");
  EXPECT_EQ(slots[0].state[1].tensor.shape(), (Shape{4, 200}));
  ASSERT_EQ(slots[1].state.size(), 1U);
  EXPECT_EQ(slots[1].state[0].tensor.shape(), Shape{7});
}

TEST(AdafactorOptimizer, TakesParametersWithoutElements) {
  const Parameter w(zeros({0, 3}));
  Adafactor adafactor(std::vector<NamedTensor>{{"w", w}}, {.allow_missing = true});
  EXPECT_NO_THROW(adafactor.step());
}

}  // namespace
}  // namespace retrace
