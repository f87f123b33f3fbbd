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
  for (const Curve& curve : plot.curves)
    for (const double x : curve.x) extent.include(x);
  return extent.range();
}

Range y_range(const Plot& plot) {
  Extent extent;
  for (const Curve& curve : plot.curves)
    for (const auto* values : {&curve.y, &curve.low, &curve.high})
      for (const double value : *values) extent.include(y_place(plot, value));
  for (const Level& level : plot.levels) extent.include(y_place(plot, level.y));
  return extent.range();
}

double y_place(const Plot& plot, double value) {
  if (!plot.log_y) return value;
  return value > 0 ? std::log10(value) : -std::numeric_limits<double>::infinity();
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

std::vector<double> log_ticks(const Range& range, int count) {
  const double decades = range.high - range.low;
  std::vector<double> result;
  if (decades < 0.7) {
    for (const double value : ticks({std::pow(10, range.low), std::pow(10, range.high)}, count))
      result.push_back(std::log10(value));
  } else if (decades < 2) {
    for (double power = std::floor(range.low); power <= range.high; ++power)
      for (const double digit : {1, 2, 5})
        if (const double place = power + std::log10(digit); range.low <= place && place <= range.high)
          result.push_back(place);
  } else {
    const double step = std::ceil((decades + 1) / count);
    for (double power = std::ceil(range.low / step) * step; power <= range.high; power += step) result.push_back(power);
  }
  return result;
}

}  // namespace retrace
