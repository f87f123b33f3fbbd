#include <retrace/models/reports/plots/range.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace {
namespace {

class Extent {
 public:
  void include(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  void include(const std::vector<double>& values) {
    for (const double value : values) include(value);
  }
  Range range() const {
    if (low_ > high_) return {};
    if (low_ == high_) return {low_ - 0.5, high_ + 0.5};
    return {low_, high_};
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

}  // namespace

Range x_range(const Plot& plot) {
  Extent extent;
  for (const Curve& curve : plot.curves) extent.include(curve.x);
  return extent.range();
}

Range y_range(const Plot& plot) {
  Extent extent;
  for (const Curve& curve : plot.curves) extent.include(curve.y), extent.include(curve.low), extent.include(curve.high);
  for (const Level& level : plot.levels) extent.include(level.y);
  return extent.range();
}

std::vector<double> ticks(const Range& range, int count) {
  const double rough = (range.high - range.low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
  std::vector<double> result;
  for (double k = std::ceil(range.low / step - 1e-9); k * step <= range.high + 1e-9 * step; ++k)
    result.push_back(k * step);
  return result;
}

}  // namespace retrace
