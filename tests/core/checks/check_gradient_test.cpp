// Gradients of functions that know no tensors.
#include <gtest/gtest.h>
#include <retrace/core/checks/check_gradient.h>
#include <retrace/tests/errors.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace retrace {
namespace {

using Doubles = std::vector<double>;

const Doubles four_numbers{0.5, -1.25, 2, 0.125};

/// y = x / |x|, whose gradient is (dy - y <y, dy>) / |x|.
Doubles unit(std::span<const double> x) {
  double squares = 0;
  for (const double number : x) squares += number * number;
  Doubles y;
  for (const double number : x) y.push_back(number / std::sqrt(squares));
  return y;
}

Doubles unit_vjp(std::span<const double> x, std::span<const double> dy) {
  const Doubles y = unit(x);
  double along = 0;
  for (std::size_t k = 0; k < y.size(); ++k) along += y[k] * dy[k];
  Doubles dx;
  for (std::size_t k = 0; k < y.size(); ++k) dx.push_back((dy[k] - y[k] * along) * y[k] / x[k]);
  return dx;
}

double rosenbrock(std::span<const double> x) {
  double sum = 0;
  for (std::size_t k = 0; k + 1 < x.size(); ++k)
    sum += 100 * std::pow(x[k + 1] - x[k] * x[k], 2) + std::pow(1 - x[k], 2);
  return sum;
}

Doubles rosenbrock_gradient(std::span<const double> x) {
  Doubles gradient(x.size());
  for (std::size_t k = 0; k + 1 < x.size(); ++k) {
    const double distance = x[k + 1] - x[k] * x[k];
    gradient[k] += -400 * x[k] * distance - 2 * (1 - x[k]);
    gradient[k + 1] += 200 * distance;
  }
  return gradient;
}

std::string printed(const GradcheckResult& result) {
  std::ostringstream out;
  out << result;
  return out.str();
}

TEST(CheckGradient, PassesARightVjpAndItsReportNamesEveryCount) {
  const GradcheckResult result = check_gradient(unit, unit_vjp, four_numbers, {.name = "unit"});
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.elements, 4);
  EXPECT_EQ(printed(result).find("gradcheck passed: unit, 4 elements, 0 skipped, 0 failed"), 0U) << result;
  EXPECT_NE(printed(result).find("no exact check: the code that is checked computes with plain numbers"),
            std::string::npos)
      << result;
}

TEST(CheckGradient, FindsAWrongElementAndItsRatio) {
  const auto twice_the_third = [](std::span<const double> x, std::span<const double> dy) {
    Doubles dx = unit_vjp(x, dy);
    dx[2] *= 2;
    return dx;
  };
  const GradcheckResult result = check_gradient(unit, twice_the_third, four_numbers);
  EXPECT_FALSE(result.passed());
  ASSERT_EQ(result.failed, 1) << result;
  EXPECT_EQ(result.worst[0].input, "x");
  EXPECT_EQ(result.worst[0].index, 2);
  EXPECT_NE(printed(result).find("2.000"), std::string::npos) << result;
}

/// The sum of a unit vector's squares is constant: a cotangent of ones, or of y, would hide this error.
TEST(CheckGradient, UsesARandomCotangent) {
  const auto without_projection = [](std::span<const double> x, std::span<const double> dy) {
    Doubles dx = unit(x);
    for (std::size_t k = 0; k < dx.size(); ++k) dx[k] *= dy[k] / x[k];
    return dx;
  };
  EXPECT_EQ(check_gradient(unit, without_projection, four_numbers).failed, 4);
}

TEST(CheckGradient, TakesTheGradientOfAFunctionWithOneResult) {
  EXPECT_TRUE(check_gradient(rosenbrock, rosenbrock_gradient, four_numbers).passed());
  const auto scaled = [](std::span<const double> x, double dy) {
    Doubles dx = rosenbrock_gradient(x);
    for (double& number : dx) number *= dy;
    return dx;
  };
  EXPECT_TRUE(check_gradient(rosenbrock, scaled, std::array{0.5, 0.25, -1.0}).passed());
  const auto negative = [](std::span<const double> x) {
    Doubles dx = rosenbrock_gradient(x);
    for (double& number : dx) number = -number;
    return dx;
  };
  EXPECT_NE(printed(check_gradient(rosenbrock, negative, four_numbers)).find("-1.000"), std::string::npos);
}

/// Gradients are small: the error is relative to them.
TEST(CheckGradient, HasNoAbsoluteFloor) {
  const auto tiny = [](std::span<const double> x) { return 1e-20 * rosenbrock(x); };
  const auto gradient = [](double factor) {
    return [factor](std::span<const double> x) {
      Doubles dx = rosenbrock_gradient(x);
      for (double& number : dx) number *= factor;
      return dx;
    };
  };
  EXPECT_TRUE(check_gradient(tiny, gradient(1e-20), four_numbers).passed());
  EXPECT_FALSE(check_gradient(tiny, gradient(1.00001e-20), four_numbers).passed());
}

/// As Eigen's: not a span, with data() by column, sizes of its own, and arithmetic.
struct Matrix {
  std::size_t rows, columns;
  Doubles numbers;
  std::size_t size() const { return numbers.size(); }
  const double* data() const { return numbers.data(); }
  double* data() { return numbers.data(); }
  double& operator()(std::size_t i, std::size_t j) { return numbers[j * rows + i]; }
  double operator()(std::size_t i, std::size_t j) const { return numbers[j * rows + i]; }
};

/// The sums of the rows of x squared.
Matrix row_norms(const Matrix& x) {
  Matrix y{x.rows, 1, Doubles(x.rows)};
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j) y(i, 0) += x(i, j) * x(i, j);
  return y;
}

Matrix row_norms_vjp(const Matrix& x, const Matrix& dy) {
  Matrix dx = x;
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j) dx(i, j) = 2 * x(i, j) * dy(i, 0);
  return dx;
}

TEST(CheckGradient, PassesArraysOfTheTypesOfTheCode) {
  const Matrix x{3, 2, {1, 2, 3, 4, 5, 6}};
  const GradcheckResult result = check_gradient(row_norms, row_norms_vjp, x);
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.elements, 6);
}

TEST(CheckGradient, SkipsTheKinksThatAreGiven) {
  const auto absolute = [](std::span<const double> x) { return Doubles{std::abs(x[0]), std::abs(x[1])}; };
  const auto sign = [](std::span<const double> x, std::span<const double> dy) {
    return Doubles{x[0] < 0 ? -dy[0] : dy[0], x[1] < 0 ? -dy[1] : dy[1]};
  };
  const GradcheckResult result = check_gradient(absolute, sign, Doubles{0, -2}, {.kinks = {0}});
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.skipped, 1);
}

TEST(CheckGradient, RefusesWhatItCannotCheck) {
  const auto shorter = [](std::span<const double>, std::span<const double>) { return Doubles{1}; };
  EXPECT_EQ(message_of<ValueError>([&] { check_gradient(unit, shorter, four_numbers); }),
            "check_gradient: vjp gave 1 number, and x has 4; both must have as many");
  const auto growing = [calls = Doubles()](std::span<const double>) mutable {
    calls.push_back(1);
    return calls;
  };
  auto grows = growing;
  const auto f = [&](std::span<const double> x) { return grows(x); };
  EXPECT_EQ(message_of<ValueError>([&] { check_gradient(f, unit_vjp, four_numbers); }),
            "check_gradient: f gave 2 numbers, and its result for the first x has 1; both must have as many");
  EXPECT_THROW(check_gradient(unit, unit_vjp, four_numbers, {.order = 2}), ValueError);
  EXPECT_FALSE(check_gradient(unit, unit_vjp, Doubles{}).passed());
  double state = 0;
  const auto random = [&](std::span<const double> x) { return x[0] + ++state; };
  EXPECT_THROW(check_gradient(random, rosenbrock_gradient, four_numbers), ValueError);
  const auto fails = [](std::span<const double>) -> double { throw std::runtime_error("of its own"); };
  EXPECT_THROW(check_gradient(fails, rosenbrock_gradient, four_numbers), std::runtime_error);
}

TEST(CheckGradient, TellsThatTwoCallsOfVjpDiffer) {
  double state = 1;
  const auto growing = [&](std::span<const double> x) {
    Doubles dx = rosenbrock_gradient(x);
    for (double& number : dx) number *= state;
    state += 1e-13;
    return dx;
  };
  const GradcheckResult result = check_gradient(rosenbrock, growing, four_numbers);
  EXPECT_FALSE(result.passed());
  EXPECT_FALSE(result.not_repeatable.empty());
}

}  // namespace
}  // namespace retrace
