#include <retrace/core/checks/checked_gradients.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace {

namespace {

// The noise of a difference, relative to its value, with which it can neither confirm a gradient nor refute it.
constexpr double unsure = 1e-3;

}  // namespace

CheckedGradients::CheckedGradients(CheckedFunction& f, std::span<const double> u, const LeafNumbers& gradients,
                                   ExactCheck& duals, Exact exact, const GradcheckOptions& options)
    : f_(f), u_(u), gradients_(gradients), duals_(duals), exact_(std::move(exact)), options_(options) {
  std::vector<double> all;
  for (const std::vector<double>& gradient : gradients) {
    rms_.push_back(root_mean_square(gradient));
    all.insert(all.end(), gradient.begin(), gradient.end());
  }
  rms_of_all_ = root_mean_square(all);
}

double CheckedGradients::relative(double distance, double a, double b, const Place& place) const {
  return distance == 0 ? 0 : distance / std::max({std::abs(a), std::abs(b), rms_[place.leaf]});
}

GradcheckElement CheckedGradients::check(std::size_t k, std::size_t i, bool persist) {
  const Place place{k, i};
  double& x = f_.values(k)[i];
  const double analytic = gradients_[k][i];
  const SlopeAt slope_at = [&](double h) { return f_.slope(x, h, u_); };
  const double first_step = options_.step * std::max(1.0, std::abs(x));
  const auto agrees = [&](const Difference& it) {
    return relative(std::abs(analytic - it.value), analytic, it.value, place) <= options_.limit;
  };
  // Shorter steps have more noise, which would hide anything in the end.
  double allowed_noise = std::numeric_limits<double>::infinity();
  bool may_be_right = false;
  const auto decides = [&](const Difference& it) {
    const double noise = min_rounding_noise(it);
    allowed_noise = std::min(allowed_noise, noise);
    const bool is_within_noise = std::abs(analytic - it.value) <= noise;
    may_be_right = may_be_right || (is_within_noise && noise <= unsure * std::abs(it.value));
    return agrees(it) || (is_within_noise && noise <= allowed_noise) || (!persist && it.converged);
  };
  const Difference difference = extrapolated_difference(slope_at, first_step, options_.limit / 100, rms_[k], decides);
  GradcheckElement element;
  element.analytic = analytic;
  element.numeric = difference.value;
  const double distance = std::abs(analytic - difference.value);
  element.error = relative(distance, analytic, difference.value, place);
  const double least_noise = min_rounding_noise(difference);
  if (agrees(difference) && relative(least_noise, analytic, difference.value, place) <= options_.limit) return element;
  const double noise =
      agrees(difference) ? least_noise : rounding_noise(slope_at, first_step, difference) + duals_.rounding_noise(k, i);
  if (distance <= noise)
    decide_within_noise(element, place, noise);
  else if (!difference.converged || may_be_right)
    decide_by_duals(element, place, DecidedBy::duals_as_differences_diverge);
  else if (is_at_kink(element, place, difference.width / 2))
    decide_by_duals(element, place, DecidedBy::duals_at_kink);
  return element;
}

LeafNumbers CheckedGradients::direction_to(const Place& place) const {
  LeafNumbers direction = f_.zeros();
  direction[place.leaf][place.element] = 1;
  return direction;
}

// Without dual numbers, an element that differs passes only if its noise is at most the limit times the rms of all
// gradients, so that any error hidden by the noise is equally small compared with them.
void CheckedGradients::decide_within_noise(GradcheckElement& element, const Place& place, double noise) const {
  element.decided_by = DecidedBy::duals_within_noise;
  element.noise = noise;
  const LeafNumbers direction = direction_to(place);
  if (const auto exact = exact_(direction)) {
    element.exact = exact->by_duals;
    element.error = relative(exact->difference(), element.analytic, element.exact, place);
    if (element.error <= options_.limit) return;
    const double allowed = duals_.rounding_noise(direction, *exact);
    element.error = relative(exact->beyond(allowed), element.analytic, element.exact, place);
  } else if (noise <= options_.limit * rms_of_all_) {
    element.error = 0;
  }
}

// Differences say something else, or nothing: dual numbers have to agree to their own limit.
void CheckedGradients::decide_by_duals(GradcheckElement& element, const Place& place, DecidedBy reason) const {
  const LeafNumbers direction = direction_to(place);
  const auto exact = exact_(direction);
  if (!exact) return;
  element.exact = exact->by_duals;
  const auto of_gradient = [&](double distance) { return relative(distance, element.analytic, element.exact, place); };
  double error = of_gradient(exact->difference());
  if (!(error <= options_.exact_limit)) {
    const double noise = duals_.rounding_noise(direction, *exact);
    if (of_gradient(noise) <= unsure) error = of_gradient(exact->beyond(noise));
  }
  if (!(error <= options_.exact_limit)) return;
  element.error = error;
  element.decided_by = reason;
}

// The slopes on both sides of a smooth function come closer in proportion to the step, and those at a kink do not.
bool CheckedGradients::is_at_kink(GradcheckElement& element, const Place& place, double step) const {
  double& x = f_.values(place.leaf)[place.element];
  const Sides wide = f_.sides(x, step, u_), narrow = f_.sides(x, step / 16, u_);
  const double gap = std::abs(narrow.above - narrow.below);
  if (!(gap > std::abs(wide.above - wide.below) / 2 && gap > options_.limit * rms_[place.leaf])) return false;
  element.below = narrow.below;
  element.above = narrow.above;
  const double slack = std::max(std::abs(wide.above - narrow.above), std::abs(wide.below - narrow.below));
  const auto [low, high] = std::minmax(narrow.below, narrow.above);
  return low - slack <= element.analytic && element.analytic <= high + slack;
}

}  // namespace retrace
