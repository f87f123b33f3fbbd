#include <retrace/core/exact_check.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace {
namespace {

constexpr int neighbour_count = 8;
constexpr double unseen_roundings = 4;  // margin: a few neighbours do not show the largest rounding errors

double beside(double x, Random& random) {
  const double units = static_cast<double>(random.integer(65) - 32);
  return std::isfinite(x) ? x + units * std::numeric_limits<double>::epsilon() * std::abs(x) : x;
}

LeafNumbers beside(LeafNumbers numbers, Random& random) {
  for (std::vector<double>& leaf : numbers)
    for (double& x : leaf) x = beside(x, random);
  return numbers;
}

}  // namespace

double ExactDerivative::difference() const { return std::abs(by_duals - by_backward); }

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
  double duals = 0, backward = 0;
  for (const Neighbour& neighbour : neighbours()) {
    f_.move_to(neighbour.point);
    const ExactDerivative there = derivative(beside(v, random_), neighbour.u, neighbour.gradients);
    duals = std::max(duals, std::abs(there.by_duals - here.by_duals));
    backward = std::max(backward, std::abs(there.by_backward - here.by_backward));
  }
  f_.move_to(point);
  return unseen_roundings * (duals + backward);
}

double ExactCheck::rounding_noise(std::size_t leaf, std::size_t i) {
  double largest = 0;
  for (const Neighbour& neighbour : neighbours())
    largest = std::max(largest, std::abs(neighbour.gradients[leaf][i] - gradients_[leaf][i]));
  return unseen_roundings * largest;
}

const std::vector<ExactCheck::Neighbour>& ExactCheck::neighbours() {
  if (neighbours_) return *neighbours_;
  neighbours_.emplace();
  if (f_.pull_back(u_).gradients != gradients_) return *neighbours_;
  const LeafNumbers point = f_.point();
  for (int n = 0; n < neighbour_count; ++n) {
    Neighbour neighbour{.point = beside(point, random_), .u = {u_.begin(), u_.end()}, .gradients = {}};
    for (double& number : neighbour.u) number = beside(number, random_);
    f_.move_to(neighbour.point);
    neighbour.gradients = f_.pull_back(neighbour.u).gradients;
    neighbours_->push_back(std::move(neighbour));
  }
  f_.move_to(point);
  return *neighbours_;
}

}  // namespace retrace
