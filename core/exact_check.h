// Derivatives along a direction, exactly: by dual numbers and by backward, which agree but for their roundings.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <retrace/core/checked_function.h>
#include <retrace/core/random.h>

namespace retrace {

/// u.(J v) by dual numbers against (J^T u).v by backward.
struct ExactDerivative {
  double by_duals = 0;
  double by_backward = 0;
  double terms = 0;  // the sum of the absolute terms of both

  double difference() const;
  /// What is left of the difference beyond a rounding noise. Not a number is neither noise nor within it.
  double beyond(double noise) const;
};

/// The derivatives of u.f at the point where f is now.
class ExactCheck {
 public:
  ExactCheck(CheckedFunction& f, std::span<const double> u, const LeafNumbers& gradients, Random random);

  /// Throws DtypeError where f does not run on dual numbers.
  ExactDerivative along(const LeafNumbers& v) { return derivative(v, u_, gradients_); }
  /// A bound of the rounding errors of the two: how far they move when every number of the point, of u and of v becomes
  /// another double, up to 32 units in the last place away. Where a gradient is 0 because terms cancel (the sum of a
  /// softmax), roundings are all there is of it, and they move as far as they are large; a derivative that backward
  /// gets wrong stays where it is. 0 for a backward that does not repeat itself.
  double rounding_noise(const LeafNumbers& v, const ExactDerivative& here);
  /// The same for one element of the gradient, as backward alone gives it.
  double rounding_noise(std::size_t leaf, std::size_t at);

 private:
  struct Neighbour {
    LeafNumbers point;
    std::vector<double> u;
    LeafNumbers gradients;
  };
  ExactDerivative derivative(const LeafNumbers& v, std::span<const double> u, const LeafNumbers& gradients);
  const std::vector<Neighbour>& neighbours();

  CheckedFunction& f_;
  std::span<const double> u_;
  const LeafNumbers& gradients_;
  Random random_;
  std::optional<std::vector<Neighbour>> neighbours_;
};

}  // namespace retrace
