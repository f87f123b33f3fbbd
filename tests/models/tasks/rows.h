// Helpers of the tests of the tasks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <retrace/models/training/evaluate.h>
#include <retrace/tests/errors.h>

namespace retrace {

/// The number of samples of a test. The standard error of a share p is then 0.0025 sqrt(4 p (1 - p)).
inline constexpr std::int64_t many = 40000;

/// The position of the only 1 among `count` elements; -1 if all are 0; -2 if they are anything else.
inline std::int64_t hot(const float* first, std::int64_t count) {
  const auto ones = std::count(first, first + count, 1.0F);
  if (ones + std::count(first, first + count, 0.0F) != count || ones > 1) return -2;
  return ones == 0 ? -1 : std::find(first, first + count, 1.0F) - first;
}

inline bool is_blank(const float* row, std::int64_t count) { return hot(row, count) == -1; }

}  // namespace retrace
