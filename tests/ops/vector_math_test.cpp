#include <gtest/gtest.h>
#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/kernels/isa.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace retrace::kernels {
namespace {

template <class T> struct Function {
  const char* name;
  std::function<void(const KernelTable&, const T* x, T* y, std::int64_t count)> kernel;
  long double (*exact)(long double);
};

template <class T> const MapKernels<T>& maps_of(const KernelTable& table) {
  if constexpr (std::is_same_v<T, float>)
    return *table.maps_float;
  else
    return *table.maps_double;
}

/// A kernel of values alone, and the values and the slopes of a kernel that computes both.
template <class T> auto map_of(MapFunction<T>* MapKernels<T>::*kernel) {
  return
      [=](const KernelTable& table, const T* x, T* y, std::int64_t count) { (maps_of<T>(table).*kernel)(x, y, count); };
}
template <class T> auto values_of(MapWithSlopeFunction<T>* MapKernels<T>::*kernel) {
  return [=](const KernelTable& table, const T* x, T* y, std::int64_t count) {
    (maps_of<T>(table).*kernel)(x, y, nullptr, count);
  };
}
template <class T> auto slopes_of(MapWithSlopeFunction<T>* MapKernels<T>::*kernel) {
  return [=](const KernelTable& table, const T* x, T* y, std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    (maps_of<T>(table).*kernel)(x, values.data(), y, count);
  };
}

long double exact_sigmoid(long double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
long double exact_sigmoid_slope(long double x) {
  const long double e = std::exp(-std::abs(x));
  return e / ((1 + e) * (1 + e));
}
long double exact_softplus(long double x) { return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x))); }

/// log is not defined for half of the arguments.
template <class T> auto of_magnitudes(MapFunction<T>* MapKernels<T>::*kernel) {
  return [=](const KernelTable& table, const T* x, T* y, std::int64_t count) {
    std::vector<T> magnitudes(x, x + count);
    for (T& magnitude : magnitudes) magnitude = std::abs(magnitude);
    (maps_of<T>(table).*kernel)(magnitudes.data(), y, count);
  };
}

template <class T> std::vector<Function<T>> functions() {
  using Kernels = MapKernels<T>;
  return {{"relu", map_of<T>(&Kernels::relu), [](long double x) { return std::max(x, 0.0L); }},
          {"exp", map_of<T>(&Kernels::exp), [](long double x) { return std::exp(x); }},
          {"tanh", map_of<T>(&Kernels::tanh), [](long double x) { return std::tanh(x); }},
          {"sigmoid", values_of<T>(&Kernels::sigmoid), exact_sigmoid},
          {"sigmoid_slope", slopes_of<T>(&Kernels::sigmoid), exact_sigmoid_slope},
          {"log", of_magnitudes<T>(&Kernels::log), [](long double x) { return std::log(std::abs(x)); }},
          {"softplus", values_of<T>(&Kernels::softplus), exact_softplus},
          {"softplus_slope", slopes_of<T>(&Kernels::softplus), exact_sigmoid},
          {"log_sigmoid", values_of<T>(&Kernels::log_sigmoid), [](long double x) { return -exact_softplus(-x); }},
          {"log_sigmoid_slope", slopes_of<T>(&Kernels::log_sigmoid), [](long double x) { return exact_sigmoid(-x); }}};
}

// Every magnitude from subnormal to overflow, and the range where the functions bend.
template <class T> std::vector<T> arguments() {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-45, 6.6), near(-110, 110), sign(-1, 1);
  std::vector<T> x;
  for (int k = 0; k < 20000; ++k) {
    const double magnitude = std::exp(exponent(random));
    x.push_back(static_cast<T>(std::copysign(magnitude, sign(random))));
    x.push_back(static_cast<T>(near(random)));
    x.push_back(static_cast<T>(near(random) / 50));
  }
  return x;
}

/// The error of a result, in units in the last place of type T.
template <class T> double units_in_last_place(T computed, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isinf(rounded) || std::isinf(computed)) return rounded == computed ? 0 : 1e9;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(std::abs(static_cast<long double>(computed) - exact) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

template <class T> class VectorMath : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(VectorMath, Types);

TYPED_TEST(VectorMath, IsExactToAFewUnitsInTheLastPlace) {
  const std::vector<TypeParam> x = arguments<TypeParam>();
  std::vector<TypeParam> y(x.size());
  for (const KernelTable* table : supported_kernel_tables()) {
    for (const Function<TypeParam>& function : functions<TypeParam>()) {
      function.kernel(*table, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
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
  const T ln2 = std::numbers::ln2_v<T>;
  for (const KernelTable* table : supported_kernel_tables()) {
    SCOPED_TRACE(table->name);
    const MapKernels<T>& maps = maps_of<T>(*table);
    EXPECT_EQ(values(maps.relu), (Values{infinity, 0, 0, 0, 0, 3000, 0}));
    EXPECT_FALSE(std::signbit(values(maps.relu)[3]));
    EXPECT_EQ(values(maps.exp), (Values{infinity, 0, 1, 1, 0, infinity, 0}));
    EXPECT_EQ(values(maps.tanh), (Values{1, -1, 0, 0, 0, 1, -1}));
    EXPECT_TRUE(std::signbit(values(maps.tanh)[3]));
    const auto value_of = [](MapWithSlopeFunction<T>* kernel) {
      return [=](const T* x, T* y, std::int64_t count) { kernel(x, y, nullptr, count); };
    };
    EXPECT_EQ(values(value_of(maps.sigmoid)), (Values{1, 0, 0.5, 0.5, 0, 1, 0}));
    EXPECT_EQ(values(value_of(maps.softplus)), (Values{infinity, 0, ln2, ln2, 0, 3000, 0}));
    EXPECT_EQ(values(value_of(maps.log_sigmoid)), (Values{0, -infinity, -ln2, -ln2, 0, 0, -3000}));
    std::vector<T> value(std::size(ends));
    const auto slope = [&](const T* x, T* y, std::int64_t count) { maps.sigmoid(x, value.data(), y, count); };
    EXPECT_EQ(values(slope), (Values{0, 0, 0.25, 0.25, 0, 0, 0}));
  }
}

TYPED_TEST(VectorMath, TheLogarithmsEndsAreRight) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T x[] = {0,
                 -T(0),
                 1,
                 Limits::infinity(),
                 Limits::denorm_min(),
                 Limits::max(),
                 -1,
                 -Limits::infinity(),
                 Limits::quiet_NaN()};
  for (const KernelTable* table : supported_kernel_tables()) {
    T y[std::size(x)];
    maps_of<T>(*table).log(x, y, std::size(x));
    EXPECT_EQ(y[0], -Limits::infinity());
    EXPECT_EQ(y[1], -Limits::infinity());
    EXPECT_EQ(y[2], 0);
    EXPECT_EQ(y[3], Limits::infinity());
    EXPECT_NEAR(y[4], std::log(Limits::denorm_min()), 1e-4);
    EXPECT_NEAR(y[5], std::log(Limits::max()), 1e-4);
    for (int k = 6; k < 9; ++k) EXPECT_TRUE(std::isnan(y[k])) << k;
  }
}

TYPED_TEST(VectorMath, AValueIsTheSameWithoutItsSlope) {
  using Kernel = MapWithSlopeFunction<TypeParam>*;
  const std::vector<TypeParam> x = arguments<TypeParam>();
  const auto count = static_cast<std::int64_t>(x.size());
  for (const KernelTable* table : supported_kernel_tables()) {
    const MapKernels<TypeParam>& maps = maps_of<TypeParam>(*table);
    std::vector<Kernel> kernels = {maps.sigmoid, maps.softplus, maps.log_sigmoid};
    if constexpr (std::is_same_v<TypeParam, float>) kernels.insert(kernels.end(), {maps.gelu, maps.gelu_tanh});
    for (const Kernel kernel : kernels) {
      std::vector<TypeParam> alone(x.size()), beside(x.size()), slope(x.size());
      kernel(x.data(), alone.data(), nullptr, count);
      kernel(x.data(), beside.data(), slope.data(), count);
      EXPECT_EQ(std::memcmp(alone.data(), beside.data(), x.size() * sizeof(TypeParam)), 0) << table->name;
    }
  }
}

TYPED_TEST(VectorMath, AnElementsBitsDoNotDependOnItsPlace) {
  const std::vector<TypeParam> all = arguments<TypeParam>();
  const std::vector<TypeParam> x(all.begin(), all.begin() + 67);
  for (const KernelTable* table : supported_kernel_tables()) {
    for (const Function<TypeParam>& function : functions<TypeParam>()) {
      std::vector<TypeParam> together(x.size()), alone(x.size());
      function.kernel(*table, x.data(), together.data(), static_cast<std::int64_t>(x.size()));
      for (std::size_t k = 0; k < x.size(); ++k) function.kernel(*table, &x[k], &alone[k], 1);
      EXPECT_EQ(std::memcmp(together.data(), alone.data(), x.size() * sizeof(TypeParam)), 0) << function.name;
    }
  }
}

TYPED_TEST(VectorMath, AGradientsBitsDoNotDependOnItsPlace) {
  using T = TypeParam;
  const std::vector<T> all = arguments<T>(), saved(all.begin(), all.begin() + 67),
                       dy(all.begin() + 67, all.begin() + 134);
  for (const KernelTable* table : supported_kernel_tables())
    for (const auto gradient : {&MapKernels<T>::by_slope, &MapKernels<T>::relu_gradient, &MapKernels<T>::tanh_gradient,
                                &MapKernels<T>::silu_gradient})
      for (const bool add : {false, true}) {
        std::vector<T> together(67, T(0.3)), alone = together;
        (maps_of<T>(*table).*gradient)(saved.data(), dy.data(), together.data(), 67, add);
        for (std::size_t k = 0; k < 67; ++k) (maps_of<T>(*table).*gradient)(&saved[k], &dy[k], &alone[k], 1, add);
        EXPECT_EQ(std::memcmp(together.data(), alone.data(), 67 * sizeof(T)), 0) << table->name << ' ' << add;
      }
}

// For counts of one vector of bits, of several and of a part, the gradients equal bit for bit those of the kernel that
// reads y.
TYPED_TEST(VectorMath, ReluWithBitsIsRelu) {
  using T = TypeParam;
  std::mt19937 random(5);
  std::uniform_real_distribution<T> number(-1, 1);
  std::vector<T> x(1300), dy(1300);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = number(random), dy[k] = number(random);
  x[3] = std::numeric_limits<T>::quiet_NaN(), x[4] = T(-0.0), x[5] = std::numeric_limits<T>::infinity();
  dy[4] = std::numeric_limits<T>::infinity();
  const auto same = [](const std::vector<T>& a, const std::vector<T>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
  };
  for (const KernelTable* table : supported_kernel_tables())
    for (const std::int64_t count : {1, 5, 64, 67, 128, 129, 256, 300, 511, 512, 513, 1025, 1300}) {
      const MapKernels<T>& maps = maps_of<T>(*table);
      std::vector<T> y(x.size()), expected = y;
      std::vector<std::uint64_t> bits(static_cast<std::size_t>((count + 511) / 512 * 8 + 1), 77);
      maps.relu_with_bits(x.data(), y.data(), bits.data(), count);
      maps.relu(x.data(), expected.data(), count);
      EXPECT_TRUE(same(y, expected)) << table->name << ' ' << count;
      EXPECT_EQ(bits.back(), 77u) << table->name << ' ' << count;
      for (const bool add : {false, true}) {
        std::vector<T> dx = dy, dx_of_y = dy;
        maps.relu_gradient_by_bits(bits.data(), dy.data(), dx.data(), count, add);
        maps.relu_gradient(y.data(), dy.data(), dx_of_y.data(), count, add);
        EXPECT_TRUE(same(dx, dx_of_y)) << table->name << ' ' << count << ' ' << add;
      }
    }
}

// dx overwrites dy or is accumulated.
TYPED_TEST(VectorMath, GradientsAreDyTimesTheSlope) {
  using T = TypeParam;
  using Slope = T (*)(T);
  using Gradient = MapGradientFunction<T>* MapKernels<T>::*;
  const std::pair<Gradient, Slope> functions[] = {{&MapKernels<T>::by_slope, [](T slope) { return slope; }},
                                                  {&MapKernels<T>::relu_gradient, [](T y) { return T(y > 0); }},
                                                  {&MapKernels<T>::tanh_gradient, [](T y) { return 1 - y * y; }},
                                                  {&MapKernels<T>::silu_gradient, [](T x) {
                                                     const T s = 1 / (1 + std::exp(-x));
                                                     return s + x * s * (1 - s);
                                                   }}};
  std::mt19937 random(4);
  std::uniform_real_distribution<T> number(-1, 1);
  std::vector<T> saved(67), dy(67);
  for (std::size_t k = 0; k < 67; ++k) saved[k] = number(random), dy[k] = number(random);
  for (const KernelTable* table : supported_kernel_tables())
    for (const auto& [gradient, slope] : functions)
      for (const std::size_t count : {std::size_t{1}, std::size_t{5}, std::size_t{67}}) {
        std::vector<T> over = dy, sum = saved;
        (maps_of<T>(*table).*gradient)(saved.data(), over.data(), over.data(), static_cast<std::int64_t>(count), false);
        (maps_of<T>(*table).*gradient)(saved.data(), dy.data(), sum.data(), static_cast<std::int64_t>(count), true);
        constexpr T last_places = 4 * std::numeric_limits<T>::epsilon();
        for (std::size_t k = 0; k < 67; ++k) {
          const T dx = k < count ? dy[k] * slope(saved[k]) : dy[k];
          EXPECT_NEAR(over[k], dx, last_places) << table->name << ' ' << k;
          EXPECT_NEAR(sum[k], k < count ? saved[k] + dx : saved[k], last_places) << table->name << ' ' << k;
        }
      }
}

// As of gelu: the last place of a normal number, and the slope beside the size of its terms.
TYPED_TEST(VectorMath, SiluIsExactToAFewUnitsInTheLastPlace) {
  using T = TypeParam;
  constexpr long double last_places = 4 * std::numeric_limits<T>::epsilon();
  constexpr long double smallest = 100 * std::numeric_limits<T>::min();
  const std::vector<T> x = arguments<T>(), ones(x.size(), 1);
  std::vector<T> y(x.size()), slope(x.size());
  for (const KernelTable* table : supported_kernel_tables()) {
    maps_of<T>(*table).silu(x.data(), y.data(), std::ssize(x));
    maps_of<T>(*table).silu_gradient(x.data(), ones.data(), slope.data(), std::ssize(x), false);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const long double at = x[k], s = exact_sigmoid(at), bend = exact_sigmoid_slope(at);
      ASSERT_LE(std::abs(y[k] - at * s), std::max(smallest, last_places * std::abs(at * s))) << at;
      ASSERT_LE(std::abs(slope[k] - (s + at * bend)), std::max(smallest, last_places * (s + std::abs(at) * bend)))
          << at;
    }
  }
}

long double exact_distribution(long double x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
long double exact_density(long double x) { return std::exp(-x * x / 2) / std::sqrt(8 * std::atan(1.0L)); }

// The last place of x P(x) is correct as long as it is a normal number. The slope has a zero; near it, errors are
// measured against the size of its terms.
TEST(VectorMath, GeluIsExactToAFewUnitsInTheLastPlace) {
  const std::vector<float> x = arguments<float>();
  std::vector<float> y(x.size()), slope(x.size());
  for (const KernelTable* table : supported_kernel_tables()) {
    table->maps_float->gelu(x.data(), y.data(), slope.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t k = 0; k < x.size(); ++k) {
      const long double at = x[k], p = exact_distribution(at), d = exact_density(at);
      constexpr double last_place = 6e-7;
      ASSERT_NEAR(y[k], static_cast<double>(at * p),
                  std::max(1e-37, last_place * std::abs(static_cast<double>(at * p))))
          << x[k];
      ASSERT_NEAR(slope[k], static_cast<double>(p + at * d),
                  std::max(1e-36, last_place * static_cast<double>(p + std::abs(at) * d)))
          << x[k];
    }
  }
}

TEST(VectorMath, GeluByTanhEqualsItsPlainTwin) {
  const std::vector<float> x = arguments<float>();
  std::vector<float> y(x.size()), slope(x.size());
  for (const KernelTable* table : supported_kernel_tables()) {
    table->maps_float->gelu_tanh(x.data(), y.data(), slope.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double at = x[k], v = std::sqrt(8 / std::numbers::pi) * at * (1 + 0.044715 * at * at);
      const double e = std::exp(-std::abs(v)), tail = e / (1 + e), p = v < 0 ? tail : 1 / (1 + e),
                   bend = tail / (1 + e);
      const double through_u =
          bend == 0 ? 0 : at * bend * std::sqrt(8 / std::numbers::pi) * (1 + 3 * 0.044715 * at * at);
      const double last_place = 6e-7 * std::max(1.0, std::abs(v) / 2);  // of e^v, for a rounded v
      ASSERT_NEAR(y[k], at * p, std::max(1e-36, last_place * std::abs(at * p))) << x[k];
      ASSERT_NEAR(slope[k], p + through_u, std::max(1e-35, last_place * (p + std::abs(through_u)))) << x[k];
    }
  }
}

}  // namespace
}  // namespace retrace::kernels
