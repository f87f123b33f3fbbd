// How tests compare tensors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <retrace/ops/ops.h>

namespace retrace {

/// The largest difference of two elements, in doubles.
inline double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  return max(abs(a.to(f64) - b.to(f64))).item();
}

/// Of f64 tensors.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.values<double>(), b.values<double>());
}

inline double deviation_of(const Tensor& x) { return std::sqrt(var(x).item()); }

}  // namespace retrace
