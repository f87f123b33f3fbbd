// Reductions: against plain loops, and at the edge values that ops.h states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/ops/ops_of_type.h>

namespace retrace {
namespace {

using Reduce = Tensor (*)(const Tensor&, const Axes&, ReduceOptions);
using Numbers = std::vector<double>;

struct ReductionCase {
  std::string name;
  Reduce function;
  double (*plain)(const Numbers&);
};

double plain_sum(const Numbers& x) {
  double total = 0;
  for (const double number : x) total += number;
  return total;
}
double plain_mean(const Numbers& x) { return plain_sum(x) / static_cast<double>(x.size()); }
double plain_var(const Numbers& x) {
  Numbers squares;
  for (const double number : x) squares.push_back((number - plain_mean(x)) * (number - plain_mean(x)));
  return plain_mean(squares);
}
double plain_std(const Numbers& x) { return std::sqrt(plain_var(x)); }
double plain_prod(const Numbers& x) {
  double product = 1;
  for (const double number : x) product *= number;
  return product;
}
double plain_logsumexp(const Numbers& x) {
  double total = 0;
  for (const double number : x) total += std::exp(number);
  return std::log(total);
}
double plain_norm(const Numbers& x) {
  double total = 0;
  for (const double number : x) total += number * number;
  return std::sqrt(total);
}
double plain_max(const Numbers& x) { return *std::max_element(x.begin(), x.end()); }
double plain_min(const Numbers& x) { return *std::min_element(x.begin(), x.end()); }

/// Every reduction of ops.def, with its plain loop.
const std::vector<ReductionCase>& reductions() {
  static const std::vector<ReductionCase> cases = [] {
    const std::map<std::string, double (*)(const Numbers&)> plain{
        {"sum", plain_sum},   {"mean", plain_mean},
        {"max", plain_max},   {"min", plain_min},
        {"var", plain_var},   {"std", plain_std},
        {"prod", plain_prod}, {"logsumexp", plain_logsumexp},
        {"norm", plain_norm}, {"standard_deviation", plain_std}};
    std::vector<ReductionCase> found;
    for (const auto& [name, f] : ops_of_type<Tensor(const Tensor&, const Axes&, ReduceOptions)>())
      if (!gives_integers(name)) found.push_back({name, f, plain.at(name)});
    return found;
  }();
  return cases;
}

bool same_values_or_nan(const Tensor& a, const Tensor& b) {
  const auto equal = [](double left, double right) { return left == right || (std::isnan(left) && std::isnan(right)); };
  const Tensor wide_a = a.to(f64), wide_b = b.to(f64);
  return a.shape() == b.shape() && std::ranges::equal(wide_a.values<double>(), wide_b.values<double>(), equal);
}

/// The gradient of a reduction, with one cotangent per output.
Tensor gradient_of(Reduce function, const Tensor& values, const Axes& axes, const Tensor& cotangent) {
  const Tensor x = parameter(values);
  Tape tape;
  tape.backward({function(x, axes, {})}, {cotangent});
  return x.grad();
}

Tensor gradient_of(Reduce function, const Tensor& values) {
  return gradient_of(function, values, {}, number(1, values.dtype()));
}

/// Reduces axes 0 and 2 of [3, 4, 5]; each element must be that of the plain loops over the same numbers.
TEST(Reductions, EqualPlainLoopsOverInnerAndOuterAxes) {
  Random random(1);
  const Tensor x = random.uniform({3, 4, 5}, -2, 2, f64);
  for (const ReductionCase& reduction : reductions()) {
    const Tensor y = reduction.function(x, {0, -1}, {});
    const Tensor kept = reduction.function(x, {0, -1}, {.keepdims = true});
    ASSERT_EQ(y.shape(), (Shape{4}));
    ASSERT_EQ(kept.shape(), (Shape{1, 4, 1}));
    for (std::int64_t j = 0; j < 4; ++j) {
      Numbers chosen;
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t k = 0; k < 5; ++k) chosen.push_back(x.at({i, j, k}));
      EXPECT_NEAR(y.at({j}), reduction.plain(chosen), 1e-13) << reduction.name;
      EXPECT_EQ(kept.at({0, j, 0}), y.at({j})) << reduction.name;
    }
    EXPECT_NEAR(reduction.function(x, {}, {}).item(), reduction.plain(list(x)), 1e-11) << reduction.name;
  }
}

TEST(Reductions, OfNothing) {
  const Tensor none = zeros({2, 0, 3}, f64);
  const std::vector<std::pair<Reduce, double>> values{
      {sum, 0}, {mean, nan}, {var, nan}, {std, nan}, {prod, 1}, {logsumexp, -infinity}, {norm, 0}};
  for (const auto& [function, value] : values)
    for (const Dtype dtype : {f32, f64}) {
      EXPECT_TRUE(same_values_or_nan(function(none.to(dtype), {1}, {}), full({2, 3}, value, dtype))) << value;
      EXPECT_TRUE(same_values_or_nan(function(none.to(dtype), {}, {}), full({}, value, dtype))) << value;
      EXPECT_EQ(function(none.to(dtype), {0}, {}).shape(), (Shape{0, 3}));
      EXPECT_EQ(gradient_of(function, none.to(dtype)).shape(), none.shape());
    }
  for (const Reduce function : {Reduce(max), Reduce(min)}) {
    EXPECT_THROW(function(none, {}, {}), ShapeError);
    EXPECT_THROW(function(none, {1}, {}), ShapeError);
    EXPECT_EQ(function(none, {0}, {}).shape(), (Shape{0, 3}));  // there is no output that lacks elements
  }
  EXPECT_EQ(cumsum(none, 1).shape(), none.shape());
  EXPECT_THROW(argmax(none, 1), ShapeError);
}

TEST(Reductions, OverNoAxesEveryElementIsItsOwnSet) {
  const Tensor x = tensor({{3, -4}, {5, 0}}, f64);
  const Axes nothing{std::span<const int>()};
  for (const Reduce function : {Reduce(sum), Reduce(mean), Reduce(max), Reduce(prod)})
    EXPECT_TRUE(same_values_or_nan(function(x, nothing, {}), x));
  EXPECT_TRUE(same_values_or_nan(norm(x, nothing), abs(x)));
  EXPECT_TRUE(same_values_or_nan(var(x, nothing), zeros_like(x)));
}

TEST(Reductions, TiesShareTheGradientEvenly) {
  const Tensor x = tensor({{2, 7, 7, 1, 7, 1}, {4, 4, 4, 4, 4, 4}}, f64), dy = tensor({6.0, 3.0}, f64);
  EXPECT_TRUE(
      same_values_or_nan(gradient_of(max, x, 1, dy), tensor({{0, 2, 2, 0, 2, 0}, {.5, .5, .5, .5, .5, .5}}, f64)));
  EXPECT_TRUE(
      same_values_or_nan(gradient_of(min, x, 1, dy), tensor({{0, 0, 0, 3, 0, 3}, {.5, .5, .5, .5, .5, .5}}, f64)));
  EXPECT_EQ(argmax(x).values<std::int64_t>()[0], 1);
  EXPECT_EQ(argmax(x).values<std::int64_t>()[1], 0);
}

TEST(Reductions, NanInIsNanOut) {
  const std::vector<Numbers> rows{{nan, 1, 2},
                                  {1, nan, 2},
                                  {1, 2, nan},
                                  {nan, nan, nan},
                                  {nan, infinity, 1},
                                  {infinity, nan, 1},
                                  {nan, -infinity, -infinity},
                                  {-infinity, -infinity, nan}};
  for (const ReductionCase& reduction : reductions())
    for (const Numbers& row : rows)
      for (const Dtype dtype : {f32, f64}) {
        const Tensor x = tensor(std::span<const double>(row), {3}, dtype);
        EXPECT_TRUE(std::isnan(reduction.function(x, {}, {}).item())) << reduction.name << " of " << x;
      }
  EXPECT_EQ(argmax(tensor({1.0, nan, 5.0, nan}, f64)).item(), 1);
  EXPECT_TRUE(std::isnan(cumsum(tensor({1.0, nan, 5.0}, f64)).at({2})));
  EXPECT_EQ(cumsum(tensor({1.0, nan, 5.0}, f64)).at({0}), 1);
}

TEST(Reductions, OneNanSpoilsItsOwnRowOnly) {
  const Tensor x = tensor({{1, 2}, {nan, 2}, {3, 2}}, f64);
  for (const ReductionCase& reduction : reductions()) {
    const Tensor y = reduction.function(x, {1}, {});
    EXPECT_FALSE(std::isnan(y.at({0}))) << reduction.name;
    EXPECT_TRUE(std::isnan(y.at({1}))) << reduction.name;
    EXPECT_FALSE(std::isnan(y.at({2}))) << reduction.name;
  }
}

TEST(Reductions, ZerosOfAProductAreExactInTheGradientToo) {
  EXPECT_TRUE(same_values_or_nan(gradient_of(prod, tensor({2.0, 0.0, 5.0}, f64)), tensor({0.0, 10.0, 0.0}, f64)));
  EXPECT_TRUE(same_values_or_nan(gradient_of(prod, tensor({2.0, 0.0, 0.0}, f64)), zeros({3}, f64)));
  EXPECT_TRUE(same_values_or_nan(gradient_of(prod, tensor({0.0}, f64)), ones({1}, f64)));
  EXPECT_EQ(prod(tensor({2.0, 0.0, 5.0}, f64)).item(), 0);
}

/// The other factor is finite, although the product is not a normal number.
TEST(Reductions, TheGradientOfAProductSurvivesUnderflowAndOverflow) {
  EXPECT_TRUE(same_values_or_nan(gradient_of(prod, tensor({1e-200, 1e-220}, f64)), tensor({1e-220, 1e-200}, f64)));
  EXPECT_TRUE(same_values_or_nan(gradient_of(prod, tensor({1e200, 1e220}, f64)), tensor({1e220, 1e200}, f64)));
  EXPECT_TRUE(same_values_or_nan(gradient_of(prod, tensor({1e-20, 1e-24}, f32)), tensor({1e-24, 1e-20}, f32)));
}

/// With this number of elements, multiplying all others for each element would take too long.
TEST(Reductions, TheGradientOfALongProductThatUnderflows) {
  const Tensor halves = full({300'000}, 0.5, f64);
  EXPECT_TRUE(same_values_or_nan(gradient_of(prod, halves), zeros_like(halves)));
}

TEST(Reductions, NormHasNoGradientAtTheOrigin) {
  EXPECT_TRUE(same_values_or_nan(gradient_of(norm, zeros({3}, f64)), zeros({3}, f64)));
  EXPECT_TRUE(same_values_or_nan(gradient_of(norm, tensor({{3, -4}, {0, 0}}, f64), 1, tensor({5.0, 7.0}, f64)),
                                 tensor({{3, -4}, {0, 0}}, f64)));
}

/// Also where the sum of equal numbers is rounded: 10 times 0.1 is not 1.
TEST(Reductions, EqualElementsHaveNoDeviationAndNoGradientOfIt) {
  for (const Dtype dtype : {f32, f64})
    for (const double number : {0.0, 0.1, -1e-3, 1e300 / 7})
      for (const std::int64_t count : {1, 3, 10, 49, 1000}) {
        const Tensor x = full({count}, dtype == f32 ? std::fmod(number, 1000) : number, dtype);
        EXPECT_EQ(std(x).item(), 0) << number << ", " << count << " times";
        EXPECT_TRUE(same_values_or_nan(gradient_of(std, x), zeros({count}, dtype))) << number;
      }
  EXPECT_EQ(std(number(3)).item(), 0);
}

TEST(Reductions, CorrectedVariancesAndDeviations) {
  const Tensor x = tensor({{1, 2, 3, 6}, {5, 5, 5, 5}}, f64);
  EXPECT_TRUE(same_values_or_nan(var(x, 1, {}, 0), var(x, 1)));
  EXPECT_TRUE(same_values_or_nan(std(x, 1, {}, 0), std(x, 1)));
  EXPECT_DOUBLE_EQ(var(x, 1, {}, 1).at({0}), 14.0 / 3);
  EXPECT_DOUBLE_EQ(std(x, 1, {.keepdims = true}, 1).at({0, 0}), std::sqrt(14.0 / 3));
  EXPECT_DOUBLE_EQ(std(x, 1, {}, 2).at({0}), std::sqrt(7.0));
  EXPECT_EQ(std(x, 1, {}, 1).at({1}), 0);
}

TEST(Reductions, LogSumExpOfHugeAndOfMaskedNumbers) {
  for (const Dtype dtype : {f32, f64}) {
    EXPECT_EQ(logsumexp(tensor({1000.0, -1000.0}, dtype)).item(), 1000);
    EXPECT_NEAR(logsumexp(tensor({-1000.0, -1000.0}, dtype)).item(), -1000 + std::log(2.0), 1e-4);
    EXPECT_EQ(logsumexp(tensor({-infinity, 3.0}, dtype)).item(), 3);
    EXPECT_EQ(logsumexp(tensor({infinity, 3.0}, dtype)).item(), infinity);
    EXPECT_EQ(logsumexp(full({4}, -infinity, dtype)).item(), -infinity);
    EXPECT_TRUE(same_values_or_nan(gradient_of(logsumexp, full({4}, -infinity, dtype)), zeros({4}, dtype)));
    EXPECT_TRUE(
        same_values_or_nan(gradient_of(logsumexp, tensor({1000.0, -1000.0}, dtype)), tensor({1.0, 0.0}, dtype)));
  }
  const double expected = 1e4 + std::log(std::exp(0.25) + std::exp(0.5) + std::exp(-1.0));
  EXPECT_NEAR(logsumexp(tensor({1e4 + 0.25, 1e4 + 0.5, 1e4 - 1}, f64)).item(), expected, 1e-11);
  EXPECT_NEAR(logsumexp(tensor({1e4 + 0.25, 1e4 + 0.5, 1e4 - 1}, f32)).item(), expected, 1e-3);
}

/// Computed in one pass as mean(x^2) - mean(x)^2, the variance would have hardly a correct digit in f32.
TEST(Reductions, VarianceOfNumbersNearTenThousand) {
  Random random(2);
  const Tensor x = random.normal({5, 1000}, 1e4, 1, f32);
  const Tensor got = var(x, 1), want = var(x.to(f64), 1);
  for (std::int64_t row = 0; row < 5; ++row) {
    EXPECT_NEAR(want.at({row}), plain_var(list(x.to(f64)[row])), 1e-10);
    EXPECT_NEAR(got.at({row}), want.at({row}), 2e-7 * want.at({row}));
  }
  const Tensor slope32 = gradient_of(var, x).to(f64), slope64 = gradient_of(var, x.to(f64));
  for (std::size_t k = 0; k < 5000; ++k) EXPECT_NEAR(slope32.values<double>()[k], slope64.values<double>()[k], 4e-7);
}

TEST(Reductions, AMillionFloatsKeepTheirDigits) {
  const Tensor x = full({1'000'000}, 0.1, f32);
  const double element = x.at({0});
  EXPECT_NEAR(sum(x).item(), element * 1e6, 0.01);
  EXPECT_NEAR(mean(x).item(), element, 1e-8);
  EXPECT_NEAR(norm(x).item(), element * 1e3, 1e-5);
}

TEST(Reductions, ASumOfManyColumnsHasTheBitsOfEachColumnAlone) {
  Random random(4);
  const ThreadsScope on_two(2);
  for (const Shape& shape : {Shape{19, 37}, Shape{2, 4, 21}, Shape{300, 3, 16}, Shape{0, 3}, Shape{5, 1}}) {
    const Tensor x = random.uniform(shape, -1, 1, f32);
    const int axis = shape.rank() - 2;
    const Tensor rows_last = transpose(x);
    for (const Reduce reduction : {Reduce(sum), Reduce(mean)})
      EXPECT_TRUE(same_values_or_nan(reduction(x, {axis}, {}), reduction(rows_last, {-1}, {}))) << text(shape);
  }
}

TEST(Reductions, GradientsOfSumsOverSeveralAxesOfOneTensorAdd) {
  Random random(5);
  const Tensor x = parameter(random.normal({3, 4}, f64));
  const Tensor of_columns = random.normal({4}, f64), of_rows = random.normal({3}, f64);
  Tape tape;
  tape.backward({sum(x, {0}, {}), mean(x, {1}, {})}, {of_columns, of_rows});
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 4; ++j)
      EXPECT_NEAR(x.grad().at({i, j}), of_columns.at({j}) + of_rows.at({i}) / 4, 1e-15);
}

TEST(Reductions, ARowOfABatchIsThatRowAloneAndThreadsChangeNothing) {
  Random random(3);
  for (const ReductionCase& reduction : reductions()) {
    const Tensor x = random.uniform({64, 1031}, -1, 1, f32), dy = random.normal({64}, f32);
    const ThreadsScope on_one(1);
    const Tensor y = reduction.function(x, {1}, {}), dx = gradient_of(reduction.function, x, 1, dy);
    EXPECT_TRUE(same_values_or_nan(y[37], reduction.function(x[37], {}, {}))) << reduction.name;
    const ThreadsScope on_two(2);
    EXPECT_TRUE(same_values_or_nan(reduction.function(x, {1}, {}), y)) << reduction.name;
    EXPECT_TRUE(same_values_or_nan(gradient_of(reduction.function, x, 1, dy), dx)) << reduction.name;
  }
}

}  // namespace
}  // namespace retrace
