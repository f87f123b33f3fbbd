// Comparisons of tensors in tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <retrace/ops/ops.h>

namespace retrace {

/// The largest absolute difference of two elements, in f64.
inline double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  return max(abs(a.to(f64) - b.to(f64))).item();
}

/// Whether two tensors have the same dtype, shape and elements. (NaN differs from itself.)
inline bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor wide_a = a.to(f64), wide_b = b.to(f64);
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(wide_a.values<double>(), wide_b.values<double>());
}

inline double deviation_of(const Tensor& x) { return std::sqrt(var(x).item()); }

}  // namespace retrace
