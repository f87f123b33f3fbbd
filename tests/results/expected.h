// What `retrace train TASK --model MODEL` reaches with seed 7, and what it may not fall below.
#pragma once

#include <array>
#include <string_view>

namespace retrace {

/// A training by its recipe.
struct ExpectedResult {
  std::string_view task, model;
  double limit;     // the least accuracy, or the largest squared error
  double measured;  // when the recipe was last changed
  double seconds;   // then, on one core
};

inline constexpr std::array expected_results{
    ExpectedResult{"recall", "rmc", 0.999, 0.9999, 10},
};

}  // namespace retrace
