#include <retrace/core/checks/difference.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace retrace {
namespace {

constexpr std::size_t max_steps = 14;  // the last step is too short to reach most kinks
// measured_noise() compares slopes that should differ only by rounding:
constexpr std::size_t shortest_steps = 6;  // the truncation error, h^3 f''' / 3 per evaluation, is below rounding there
constexpr std::size_t steps_alike = 8;     // near the step of the result, where truncation is nearly the same for all
constexpr double extrapolation = 2;        // see min_rounding_noise
constexpr double unseen_slopes = 4;        // margin: slopes that were not sampled may be this much worse

constexpr int max_searches = 8;          // with ever shorter steps
constexpr double shorter = 1.0 / 4096;   // from one search to the next
constexpr double noise_of_results = 64;  // times the smallest that it can be: shorter steps only add to it

Difference search(const SlopeAt& slope, double first_step, double tolerance, double scale) {
  std::array<double, max_steps> now{}, before{};
  Difference best;
  double h = first_step;
  for (std::size_t k = 0; k < max_steps && !best.converged; ++k, h /= 2) {
    const Slope here = slope(h);
    if (std::abs(here.width - 2 * h) > h) break;  // below the resolution of x
    now[0] = here.value;
    double power = 4;  // the error in h^2, then in h^4, ... cancels
    for (std::size_t j = 1; j <= k; ++j, power *= 4) {
      now[j] = (power * now[j - 1] - before[j - 1]) / (power - 1);
      const double change = std::max(std::abs(now[j] - now[j - 1]), std::abs(now[j] - before[j - 1]));
      if (change <= best.change) best = {now[j], change, here.width, here.magnitude, here.moved};
    }
    best.converged = k >= 2 && best.change <= tolerance * std::max(std::abs(best.value), scale);
    before = now;
  }
  best.converged = best.converged || best.change <= noise_of_results * min_rounding_noise(best);
  return best;
}

}  // namespace

double min_rounding_noise(const Difference& difference) {
  return extrapolation * std::numeric_limits<double>::epsilon() * difference.magnitude / difference.width;
}

namespace {

// The rounding error of slopes that should differ only by rounding.
double measured_noise(const SlopeAt& slope, double first_step, const Difference& difference) {
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
  return extrapolation * error / difference.width;
}

}  // namespace

double rounding_noise(const SlopeAt& slope, double first_step, const Difference& difference) {
  return unseen_slopes * std::max(min_rounding_noise(difference), measured_noise(slope, first_step, difference));
}

Difference extrapolated_difference(const SlopeAt& slope, double first_step, double tolerance, double scale,
                                   const Accepts& accepts) {
  Difference best = search(slope, first_step, tolerance, scale);
  if (accepts(best)) return best;
  double least = std::numeric_limits<double>::infinity();
  for (int n = 0; n < max_searches; ++n, first_step *= shorter) {
    const Difference found = search(slope, first_step, tolerance, 0);
    const bool is_below_a_rounding = n > 0 && found.value == 0;  // f rounds such steps away
    if (is_below_a_rounding) continue;
    if (accepts(found)) return found;
    const double of_results = extrapolation * std::numeric_limits<double>::epsilon() * found.moved / found.width;
    const double uncertainty = found.change + of_results + measured_noise(slope, first_step, found);
    if (uncertainty < least) best = found, least = uncertainty;
  }
  return best;
}

}  // namespace retrace
