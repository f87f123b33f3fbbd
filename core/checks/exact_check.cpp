#include <retrace/core/checks/exact_check.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <retrace/core/tensor/jitter.h>

namespace retrace {
namespace {

constexpr std::uint64_t neighbour_count = 8;
constexpr std::int64_t max_units = 8;   // in the last place, by which a neighbour differs
constexpr double unseen_roundings = 4;  // margin: a few neighbours do not show the largest rounding errors
constexpr double jump = 1e-6;           // of a gradient between neighbours: more is no rounding

double beside(double x, Random& random) {
  const double units = static_cast<double>(random.integer(2 * max_units + 1) - max_units);
  return std::isfinite(x) ? x + units * std::numeric_limits<double>::epsilon() * std::abs(x) : x;
}

LeafNumbers beside(LeafNumbers numbers, Random& random) {
  for (std::vector<double>& leaf : numbers)
    for (double& x : leaf) x = beside(x, random);
  return numbers;
}

// Whether these are gradients of one function, however rounded: an op that was written for f64 only, and does not ask
// for the dtype, leaves anything at all in gradients of dual numbers.
bool are_alike(const LeafNumbers& gradients, const LeafNumbers& others) {
  double largest = 0;
  for (const std::vector<double>& leaf : gradients)
    for (const double g : leaf) largest = std::max(largest, std::isfinite(g) ? std::abs(g) : 0);
  const auto is_near = [=](double a, double b) {
    return std::abs(a - b) <= largest / 10 || (!std::isfinite(a) && !std::isfinite(b));
  };
  for (std::size_t k = 0; k < gradients.size(); ++k)
    if (!std::ranges::equal(gradients[k], others[k], is_near)) return false;
  return true;
}

}  // namespace

double ExactDerivative::difference() const {
  return by_duals == by_backward ? 0 : std::abs(by_duals - by_backward);  // infinities, too
}

double ExactDerivative::beyond(double noise) const {
  if (!std::isfinite(noise)) return difference();
  return difference() <= noise ? 0 : difference() - noise;
}

ExactCheck::ExactCheck(CheckedFunction& f, std::span<const double> u, const LeafNumbers& gradients, Random random)
    : f_(f), u_(u), gradients_(gradients), random_(random) {}

ExactDerivative ExactCheck::derivative(const LeafNumbers& v, std::span<const double> u, const LeafNumbers& gradients) {
  const Tangent tangent = f_.push_forward(v, u);
  ExactDerivative result{.by_duals = tangent.value, .terms = tangent.terms};
  for (std::size_t k = 0; k < v.size(); ++k)
    for (std::size_t i = 0; i < v[k].size(); ++i) {
      const double term = gradients[k][i] * v[k][i];
      result.by_backward += term;
      result.terms += std::abs(term);
    }
  return result;
}

double ExactCheck::rounding_noise(const LeafNumbers& v, const ExactDerivative& here) {
  const LeafNumbers point = f_.point();
  const double by_backward = derivative(v, u_, surroundings().gradients).by_backward;
  double duals = 0, backward = 0;
  for (std::uint64_t n = 0; const Neighbour& neighbour : surroundings().neighbours) {
    f_.move_to(neighbour.point);
    const LeafNumbers beside_v = beside(v, random_);
    const JitterScope jitter(++n);
    const ExactDerivative there = derivative(beside_v, neighbour.u, neighbour.gradients);
    duals = std::max(duals, std::abs(there.by_duals - here.by_duals));
    backward = std::max(backward, std::abs(there.by_backward - by_backward));
  }
  f_.move_to(point);
  double limit = unseen_roundings * noise_of_duals(v, here);
  for (std::size_t k = 0; k < v.size(); ++k)
    for (const double x : v[k]) limit += surroundings().limits[k] * std::abs(x);
  return std::min(unseen_roundings * (duals + backward), limit);
}

double ExactCheck::noise_of_duals(const LeafNumbers& v, const ExactDerivative& here) {
  double largest = 0;
  for (std::uint64_t n = 1; n <= neighbour_count; ++n) {
    const JitterScope jitter(n);
    largest = std::max(largest, std::abs(f_.push_forward(v, u_).value - here.by_duals));
  }
  return largest;
}

double ExactCheck::rounding_noise(std::size_t leaf, std::size_t i) {
  double largest = 0;
  for (const Neighbour& neighbour : surroundings().neighbours)
    largest = std::max(largest, std::abs(neighbour.gradients[leaf][i] - surroundings().gradients[leaf][i]));
  return std::min(unseen_roundings * largest, surroundings().limits[leaf]);
}

std::vector<double> ExactCheck::noise_limits() {
  const double terms = f_.largest_terms(u_);
  const LeafNumbers point = f_.point();
  std::vector<double> limits;
  for (std::size_t k = 0; k < point.size(); ++k) {
    const double x = root_mean_square(point[k]);
    limits.push_back(jump * std::max(root_mean_square(gradients_[k]), terms / (x > 0 ? x : 1)));
  }
  return limits;
}

// Gradients here and there are both of dual numbers without tangents, which can be rounded at random, if the backwards
// of f run on these; a mistake that only f64 has is then no noise.
const ExactCheck::Surroundings& ExactCheck::surroundings() {
  if (surroundings_) return *surroundings_;
  Surroundings& result = surroundings_.emplace();
  result.gradients = gradients_;
  result.limits = noise_limits();
  if (f_.pull_back(u_).gradients != gradients_) return result;
  Dtype dtype = f64;
  try {
    const LeafNumbers of_duals = f_.pull_back(u_, dual).gradients;
    if (are_alike(gradients_, of_duals)) {
      result.gradients = of_duals;
      dtype = dual;
    }
  } catch (const Error&) {  // as that of an op without a backward for dual numbers
  }
  const LeafNumbers point = f_.point();
  for (std::uint64_t n = 0; n < neighbour_count; ++n) {
    Neighbour neighbour{.point = beside(point, random_), .u = {u_.begin(), u_.end()}, .gradients = {}};
    for (double& number : neighbour.u) number = beside(number, random_);
    f_.move_to(neighbour.point);
    const JitterScope jitter(n);
    neighbour.gradients = f_.pull_back(neighbour.u, dtype).gradients;
    result.neighbours.push_back(std::move(neighbour));
  }
  f_.move_to(point);
  return result;
}

}  // namespace retrace
