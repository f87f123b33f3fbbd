// Comparisons of tensors in tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <retrace/ops/ops.h>

namespace retrace {

/// The largest absolute difference of two elements, in f64.
inline double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  return max(abs(a.to(f64) - b.to(f64))).item();
}

/// Expects every element within `limit` of the wanted one, in f64. NaN is near nothing.
inline void expect_near(const Tensor& got, const Tensor& want, double limit, const std::string& what = "") {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const Tensor wide_got = got.to(f64), wide_want = want.to(f64);
  const auto y = wide_got.values<double>(), wanted = wide_want.values<double>();
  for (std::size_t k = 0; k < y.size(); ++k)
    if (!(std::abs(y[k] - wanted[k]) <= limit)) {
      ADD_FAILURE() << what << " element " << k << " is " << y[k] << " and not within " << limit << " of " << wanted[k];
      return;
    }
}

/// The elements of a tensor of dtype T.
template <class T> std::vector<T> values_of(const Tensor& x) {
  const auto values = x.values<T>();
  return {values.begin(), values.end()};
}

/// The elements of a tensor of any dtype.
inline std::vector<double> list(const Tensor& x) {
  return dispatch_any(x.dtype(), [&](auto zero) {
    std::vector<double> numbers;
    for (const auto value : x.values<decltype(zero)>()) numbers.push_back(static_cast<double>(value));
    return numbers;
  });
}

/// Expects exactly this shape and these elements, of f64.
inline void expect_values(const Tensor& y, const Shape& shape, const std::vector<double>& want) {
  ASSERT_EQ(y.shape(), shape);
  EXPECT_TRUE(std::ranges::equal(y.values<double>(), want)) << y;
}

/// Whether two tensors have the same dtype, shape and elements. (NaN differs from itself.)
inline bool same_values(const Tensor& a, const Tensor& b) {
  const Tensor wide_a = a.to(f64), wide_b = b.to(f64);
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(wide_a.values<double>(), wide_b.values<double>());
}

/// Whether two tensors have the same values, bit for bit: 0 and -0 differ.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  return same_values(a, b) && dispatch_any(a.dtype(), [&](auto zero) {
           const auto x = a.values<decltype(zero)>(), y = b.values<decltype(zero)>();
           return x.empty() || std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
         });
}

inline double deviation_of(const Tensor& x) { return std::sqrt(var(x).item()); }

}  // namespace retrace
