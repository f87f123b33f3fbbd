// The part of an axis that a plot shows.
#pragma once

#include <vector>

#include <retrace/models/reports/plots/plot.h>

namespace retrace {

struct Range {
  double low = 0, high = 1;
  /// 0 at `low`, 1 at `high`.
  double part(double value) const { return (value - low) / (high - low); }
};

/// The smallest range that contains all finite numbers of the plot; never empty.
Range x_range(const Plot& plot);
Range y_range(const Plot& plot);
/// Round numbers inside the range, about `count` of them: multiples of 1, 2 or 5 times a power of ten.
std::vector<double> ticks(const Range& range, int count);

}  // namespace retrace
