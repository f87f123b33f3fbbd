#include <gtest/gtest.h>
#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/kernels/isa.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace retrace::kernels {
namespace {

template <class T>
struct Function {
  const char* name;
  MapFunction<T>* KernelTable::*kernel;
  long double (*exact)(long double);
};

long double exact_sigmoid(long double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
long double exact_sigmoid_slope(long double x) {
  const long double e = std::exp(-std::abs(x));
  return e / ((1 + e) * (1 + e));
}

template <class T>
std::vector<Function<T>> functions() {
  const auto of = [](auto for_float, auto for_double) {
    if constexpr (std::is_same_v<T, float>)
      return for_float;
    else
      return for_double;
  };
  return {{"exp", of(&KernelTable::exp_float, &KernelTable::exp_double), [](long double x) { return std::exp(x); }},
          {"tanh", of(&KernelTable::tanh_float, &KernelTable::tanh_double), [](long double x) { return std::tanh(x); }},
          {"sigmoid", of(&KernelTable::sigmoid_float, &KernelTable::sigmoid_double), exact_sigmoid},
          {"sigmoid_slope", of(&KernelTable::sigmoid_slope_float, &KernelTable::sigmoid_slope_double),
           exact_sigmoid_slope}};
}

// Every magnitude from subnormal to overflow, and the range where the functions bend.
template <class T>
std::vector<T> arguments() {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-45, 6.6), near(-110, 110), sign(-1, 1);
  std::vector<T> x;
  for (int k = 0; k < 20000; ++k) {
    x.push_back(static_cast<T>(std::copysign(std::exp(exponent(random)), sign(random))));
    x.push_back(static_cast<T>(near(random)));
    x.push_back(static_cast<T>(near(random) / 50));
  }
  return x;
}

/// The distance from what is exact, in the spacing of numbers of type T there.
template <class T>
double units_in_last_place(T computed, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isinf(rounded) || std::isinf(computed)) return rounded == computed ? 0 : 1e9;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(std::abs(static_cast<long double>(computed) - exact) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

template <class T>
class VectorMath : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(VectorMath, Types);

TYPED_TEST(VectorMath, IsExactToAFewUnitsInTheLastPlace) {
  const std::vector<TypeParam> x = arguments<TypeParam>();
  std::vector<TypeParam> y(x.size());
  for (const KernelTable* table : supported_kernel_tables()) {
    for (const Function<TypeParam>& function : functions<TypeParam>()) {
      (table->*function.kernel)(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
      for (std::size_t k = 0; k < x.size(); ++k)
        ASSERT_LE(units_in_last_place(y[k], function.exact(static_cast<long double>(x[k]))), 4)
            << function.name << '(' << x[k] << ") = " << y[k] << " on " << table->name;
    }
  }
}

TYPED_TEST(VectorMath, TheEndsAreRight) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const T ends[] = {infinity, -infinity, 0, -T(0), std::numeric_limits<T>::quiet_NaN(), 3000, -3000};
  const auto values = [&](auto kernel) {
    std::vector<T> y(std::size(ends));
    kernel(ends, y.data(), static_cast<std::int64_t>(y.size()));
    EXPECT_TRUE(std::isnan(y[4]));
    y[4] = 0;
    return y;
  };
  using Values = std::vector<T>;
  EXPECT_EQ(values([](auto... a) { exp(a...); }), (Values{infinity, 0, 1, 1, 0, infinity, 0}));
  EXPECT_EQ(values([](auto... a) { tanh(a...); }), (Values{1, -1, 0, 0, 0, 1, -1}));
  EXPECT_TRUE(std::signbit(values([](auto... a) { tanh(a...); })[3]));
  EXPECT_EQ(values([](auto... a) { sigmoid(a...); }), (Values{1, 0, 0.5, 0.5, 0, 1, 0}));
  EXPECT_EQ(values([](auto... a) { sigmoid_slope(a...); }), (Values{0, 0, 0.25, 0.25, 0, 0, 0}));
}

TYPED_TEST(VectorMath, AnElementsBitsDoNotDependOnItsPlace) {
  const std::vector<TypeParam> all = arguments<TypeParam>();
  const std::vector<TypeParam> x(all.begin(), all.begin() + 67);
  for (const KernelTable* table : supported_kernel_tables()) {
    for (const Function<TypeParam>& function : functions<TypeParam>()) {
      std::vector<TypeParam> together(x.size()), alone(x.size());
      (table->*function.kernel)(x.data(), together.data(), static_cast<std::int64_t>(x.size()));
      for (std::size_t k = 0; k < x.size(); ++k) (table->*function.kernel)(&x[k], &alone[k], 1);
      EXPECT_EQ(std::memcmp(together.data(), alone.data(), x.size() * sizeof(TypeParam)), 0) << function.name;
    }
  }
}

}  // namespace
}  // namespace retrace::kernels
