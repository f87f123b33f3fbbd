#include <retrace/core/checks/three_ways.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace retrace {
namespace {

constexpr double first_step_of_difference = 4e-3;  // of the difference, times max(1, |x|)
constexpr double tolerance_of_difference = 1e-10;  // at which it has converged
constexpr double agreement = 1e-7;                 // with the backward; shorter steps are tried where it fails
constexpr double step_of_sides = 1e-6;             // at which a smooth function has nearly one slope
constexpr double gap_at_kink = 1e-3;               // between the slopes of both sides, relative to the larger
constexpr double gap_of_rounding = 1e-6;           // relative to the results: several thousand roundings

}  // namespace

std::vector<double> all_numbers(const Tensors& tensors) {
  std::vector<double> numbers;
  for (const Tensor& tensor : tensors) {
    const Tensor converted = as_f64(tensor);
    numbers.insert(numbers.end(), converted.values<double>().begin(), converted.values<double>().end());
  }
  return numbers;
}

ThreeWays::ThreeWays(const std::function<Tensors()>& f, const NamedLeaves& leaves, std::vector<double> u)
    : f_(f, leaves), u_(std::move(u)) {}

double ThreeWays::by_difference(std::size_t leaf, std::size_t element, double by_backward) const {
  double& x = f_.values(leaf)[element];
  const auto agrees = [by_backward](const Difference& it) {
    return it.converged && std::abs(it.value - by_backward) <= agreement * std::abs(by_backward);
  };
  const double scale = std::max(1.0, std::abs(x));
  const Difference found =
      extrapolated_difference([&](double h) { return f_.slope(x, h, u_); }, first_step_of_difference * scale,
                              tolerance_of_difference, std::abs(by_backward), agrees);
  if (agrees(found)) return found.value;
  const Sides sides = f_.sides(x, step_of_sides * scale, u_);
  const double gap = std::abs(sides.above - sides.below),
               larger = std::max(std::abs(sides.above), std::abs(sides.below));
  const bool is_at_kink = gap > gap_at_kink * larger && gap > gap_of_rounding * found.magnitude;
  return is_at_kink ? std::numeric_limits<double>::quiet_NaN() : found.value;
}

double ThreeWays::by_duals(std::size_t leaf, std::size_t element) {
  LeafNumbers direction = f_.zeros();
  direction[leaf][element] = 1;
  try {
    return f_.push_forward(direction, u_).value;
  } catch (const DtypeError&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace retrace
