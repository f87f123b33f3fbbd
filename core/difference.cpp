#include <retrace/core/difference.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace retrace {
namespace {

constexpr std::size_t max_steps = 14;  // the last step is too short to reach most kinks
// rounding_noise() compares slopes that should differ by rounding alone:
constexpr std::size_t shortest_steps = 6;  // the truncation error, h^3 f''' / 3 per evaluation, is below rounding there
constexpr std::size_t steps_alike = 8;     // near the step of the result, where truncation is nearly the same for all
constexpr double extrapolation = 2;        // see min_rounding_noise
constexpr double unseen_slopes = 4;        // margin: slopes that were not sampled may be this much worse

}  // namespace

Difference extrapolated_difference(const SlopeAt& slope, double first_step, double tolerance, double scale) {
  std::array<double, max_steps> now{}, before{};
  Difference best{.value = std::numeric_limits<double>::quiet_NaN()};
  double min_change = std::numeric_limits<double>::infinity();
  double h = first_step;
  for (std::size_t k = 0; k < max_steps; ++k, h /= 2) {
    const Slope here = slope(h);
    now[0] = here.value;
    double power = 4;  // the error in h^2, then in h^4, ... cancels
    for (std::size_t j = 1; j <= k; ++j, power *= 4) {
      now[j] = (power * now[j - 1] - before[j - 1]) / (power - 1);
      const double change = std::max(std::abs(now[j] - now[j - 1]), std::abs(now[j] - before[j - 1]));
      if (change <= min_change) min_change = change, best = {now[j], here.width, here.magnitude};
    }
    if (k >= 2 && min_change <= tolerance * std::max(std::abs(best.value), scale)) break;
    before = now;
  }
  return best;
}

double min_rounding_noise(const Difference& difference) {
  return extrapolation * std::numeric_limits<double>::epsilon() * difference.magnitude / difference.width;
}

double rounding_noise(const SlopeAt& slope, double first_step, const Difference& difference) {
  double error = 0;  // of one evaluation of u.f
  double h = std::ldexp(first_step, 1 - static_cast<int>(max_steps));
  for (std::size_t k = 0; k < shortest_steps; ++k, h *= 2) {
    const Slope here = slope(h);
    error = std::max(error, std::abs(here.value - difference.value) * here.width);
  }
  double min_value = std::numeric_limits<double>::infinity(), max_value = -min_value;
  for (std::size_t k = 0; k < steps_alike; ++k) {
    const Slope here = slope(difference.width / 2 * (1 + static_cast<double>(k) * 1e-5));
    min_value = std::min(min_value, here.value);
    max_value = std::max(max_value, here.value);
  }
  error = std::max(error, (max_value - min_value) * difference.width);
  return unseen_slopes * std::max(min_rounding_noise(difference), extrapolation * error / difference.width);
}

}  // namespace retrace
