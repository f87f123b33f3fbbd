// Splits samples into a training set and a test set.
#pragma once

#include <cstdint>

#include <retrace/core/random.h>

namespace retrace {

/// Positions of samples, i64: take(x, split.train) are the samples to train on.
struct Split {
  Tensor train;
  Tensor test;
};

/// The first samples * test_part (rounded down) of 0 .. samples - 1 in random order are the test, the others are
/// trained on; each is in one of them. Throws ValueError for a negative number of samples and a part outside [0, 1].
Split split(std::int64_t samples, double test_part, Random& random);

}  // namespace retrace
