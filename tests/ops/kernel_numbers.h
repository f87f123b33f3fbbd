// Random numbers for the tests of kernels, and the comparison of a kernel with its plain twin.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace retrace::kernels {

template <class T> std::vector<T> normal_numbers(std::int64_t count, unsigned seed, double deviation = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0, deviation);
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& number : numbers) number = static_cast<T>(normal(generator));
  return numbers;
}

template <class T> bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Expects every element within `units` units in the last place of the largest element.
template <class T>
void expect_close(const std::vector<T>& plain, const std::vector<T>& fast, double units, const char* what) {
  ASSERT_EQ(plain.size(), fast.size());
  double largest = 0;
  for (const T x : plain) largest = std::max(largest, std::abs(static_cast<double>(x)));
  const double tolerance = units * largest * std::numeric_limits<T>::epsilon();
  for (std::size_t k = 0; k < plain.size(); ++k) ASSERT_NEAR(plain[k], fast[k], tolerance) << what << " [" << k << ']';
}

}  // namespace retrace::kernels
