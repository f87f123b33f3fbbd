// Division by a number and of a number: true divisions, forward and backward, in every dtype.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <retrace/core/checks/derivatives.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

template <class T> class Division : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Division, Reals);

/// dy and x are the numbers 1 to 1000 times the divisor.
TYPED_TEST(Division, ByANumberRoundsOnce) {
  using T = TypeParam;
  for (int n = 1; n <= 100; ++n) {
    const double c = n * 0.7;
    const Tensor x = parameter(arange(1, 1001, 1, dtype_of<T>));
    Tape tape;
    const Tensor y = x / c;
    tape.backward({y}, {x.detach()});
    for (std::size_t k = 0; k < 1000; ++k) {
      const T want = x.values<T>()[k] / static_cast<T>(c);
      EXPECT_EQ(y.template values<T>()[k], want);
      EXPECT_EQ(x.grad().values<T>()[k], want);
    }
  }
}

TYPED_TEST(Division, OfAMultipleByItsFactorIsExact) {
  using T = TypeParam;
  for (int n = 1; n <= 1000; ++n) {
    const Tensor x = arange(0, 21, 1, dtype_of<T>) * static_cast<double>(n);
    EXPECT_TRUE(same_bits(floor(x / static_cast<double>(n)), arange(0, 21, 1, dtype_of<T>))) << n;
  }
}

TYPED_TEST(Division, OfANumberIsFiniteWhereItsQuotientIs) {
  using T = TypeParam;
  const double tiny = std::numeric_limits<T>::min() / 8, large = std::numeric_limits<T>::max() / 8;
  struct Quotient {
    double c, x;
  };
  for (const auto& [c, at] : {Quotient{tiny, tiny}, Quotient{large, large}, Quotient{tiny, 1e-3}, Quotient{large, 1e3},
                              Quotient{3, 7}, Quotient{-1, large}}) {
    const Tensor x = parameter(full({3}, at, dtype_of<T>));
    Tape tape;
    const Tensor y = c / x;
    tape.backward(sum(y));
    const T wide_c = static_cast<T>(c), wide_x = static_cast<T>(at);
    EXPECT_EQ(y.template values<T>()[0], wide_c / wide_x);
    EXPECT_EQ(x.grad().values<T>()[0], -(wide_c / wide_x) / wide_x);
  }
}

TYPED_TEST(Division, ByTheNumberItselfIsOneDownToTheSubnormals) {
  const double tiny = std::numeric_limits<TypeParam>::denorm_min();
  for (const double c : {tiny, 3 * tiny, 49.0, 1e-3})
    EXPECT_EQ((full({}, c, dtype_of<TypeParam>) / static_cast<double>(static_cast<TypeParam>(c))).item(), 1) << c;
}

TYPED_TEST(Division, OfAMeansGradientIsTrue) {
  using T = TypeParam;
  for (const Axes& axes : {Axes{}, Axes{0}, Axes{1}}) {
    const Tensor x = parameter(ones({7, 7}, dtype_of<T>));
    Tape tape;
    const Tensor y = mean(x, axes);
    const std::int64_t n = x.numel() / y.numel();
    tape.backward({y}, {full_like(y, static_cast<double>(5 * n))});
    EXPECT_TRUE(same_bits(x.grad(), full_like(x, 5)));
  }
}

TEST(DivisionOfDuals, HasTheTangentOfTheQuotient) {
  const Tensor x = tensor({49, -3, 1e-310}, f64), v = tensor({98, 1, 2e-310}, f64);
  EXPECT_TRUE(same_bits(jvp([](const Tensor& at) { return at / 49.0; }, x, v), v / 49.0));
  const Tensor tangent =
      jvp([](const Tensor& at) { return 3.0 / at; }, slice(x, {range(0, 2)}), slice(v, {range(0, 2)}));
  expect_near(tangent, tensor({-3.0 / 49 * 98 / 49, -3.0 / 9}, f64), 1e-16);
}

TEST(DivisionRecords, AreDivisions) {
  const Tensor x = parameter(ones({2}));
  Tape tape;
  const Tensor y = 3.0 / (x / -7.0);
  const Record &by_number = *tape.records().front(), &of_number = *tape.records().back();
  EXPECT_EQ(by_number.op().name, std::string_view("div"));
  EXPECT_EQ(by_number.formulas().forward, "y = x / (-7)");
  EXPECT_EQ(by_number.formulas().backward, "dx = dy / (-7)");
  EXPECT_EQ(of_number.formulas().forward, "y = 3 / x");
}

}  // namespace
}  // namespace retrace
