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
/// The place of a number in y_range(): its decimal logarithm in a plot with log_y, which is not finite for 0 and less.
double y_place(const Plot& plot, double value);
/// Round numbers inside the range, about `count` of them: multiples of 1, 2 or 5 times a power of ten.
std::vector<double> ticks(const Range& range, int count);
/// Powers of ten inside a range of decimal logarithms, as logarithms: all, or every second one, ... so that they are
/// about `count`. Over less than two decades 1, 2 and 5 times such powers, over a short part of one the numbers of
/// ticks().
std::vector<double> log_ticks(const Range& range, int count);

}  // namespace retrace
