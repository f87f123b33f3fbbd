// Shared by the tests that repeat the checks of the original programs (attention, relational memory, relational
// recurrent network, LSTM baseline), with the numbers that those were meant to have.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {

inline bool all_finite(const Tensor& x) {
  return std::ranges::all_of(x.values<double>(), [](double value) { return std::isfinite(value); });
}

/// One seed for all of them, as there.
class OriginalTest : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{42};
};

}  // namespace retrace
