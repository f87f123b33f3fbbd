// Baselines without a formula, measured on samples, which are always the same.
#pragma once

#include <retrace/core/tensor/random.h>

namespace retrace {

/// How many samples are drawn where a baseline is measured, and from which generator.
inline constexpr int draws_for_baselines = 20000;  // the standard error of a fraction is at most 0.0036
inline Random random_for_baselines() { return Random(0).stream("yardsticks"); }

/// The fraction of draws for which is_right(random).
template <class IsRight> double simulated_share(IsRight&& is_right) {
  Random random = random_for_baselines();
  int right = 0;
  for (int draw = 0; draw < draws_for_baselines; ++draw) right += is_right(random) ? 1 : 0;
  return right / static_cast<double>(draws_for_baselines);
}

}  // namespace retrace
