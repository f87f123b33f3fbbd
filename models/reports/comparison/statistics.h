// Means of a few runs with their confidence intervals.
#pragma once

#include <span>

namespace retrace {

/// mean and standard deviation (n - 1; 0 for a single number), and the half width of the 95 % interval of the mean by
/// Student's t (infinite for a single number).
struct Summary {
  double mean = 0;
  double deviation = 0;
  double half_width = 0;
};
Summary summarise(std::span<const double> numbers);
/// The summary of a_k - b_k, in which the effect of what the runs of a pair share (seed, batches) cancels. Throws
/// ValueError for different lengths.
Summary summarise_differences(std::span<const double> a, std::span<const double> b);

}  // namespace retrace
