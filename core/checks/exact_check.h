// Exact directional derivatives: by dual numbers and by backward, which agree up to rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <retrace/core/checks/checked_function.h>
#include <retrace/core/tensor/random.h>

namespace retrace {

/// u.(J v) by dual numbers and (J^T u).v by backward, which should be equal.
struct ExactDerivative {
  double by_duals = 0;
  double by_backward = 0;
  double terms = 0;  // the sum of the absolute values of the terms of both

  double difference() const;
  /// The amount by which the difference exceeds the rounding noise, at least 0. A NaN difference stays NaN; a noise
  /// that is not finite is ignored.
  double beyond(double noise) const;
};

/// Computes derivatives of u.f at the current point of f.
class ExactCheck {
 public:
  ExactCheck(CheckedFunction& f, std::span<const double> u, const LeafNumbers& gradients, Random random);

  /// The derivative along v, computed both ways. Throws DtypeError if f does not run on dual numbers.
  ExactDerivative along(const LeafNumbers& v) { return derivative(v, u_, gradients_); }
  /// An estimate of the rounding errors of both derivatives: how much they change when every number of the point, of u
  /// and of v changes by up to 8 units in the last place, and dual numbers are rounded at random. If a gradient
  /// is 0 because terms cancel (the sum of a softmax), its computed value is pure rounding error and changes by its own
  /// size; a wrong derivative hardly changes. 0 if backward does not give the same gradients twice. What changes by
  /// more than a millionth of the size of the gradient, or of dy y / x for any y on the way where terms cancel, and
  /// more than the roundings of dual numbers at this very point, is no rounding: a backward may jump where two numbers
  /// are equal, and only there be wrong.
  double rounding_noise(const LeafNumbers& v, const ExactDerivative& here);
  /// An estimate of the rounding error of one element of the gradient by backward.
  double rounding_noise(std::size_t leaf, std::size_t i);

 private:
  struct Neighbour {
    LeafNumbers point;
    std::vector<double> u;
    LeafNumbers gradients;
  };
  struct Surroundings {
    LeafNumbers gradients;  // here
    std::vector<Neighbour> neighbours;
    std::vector<double> limits;  // of the noise of an element of each leaf
  };
  ExactDerivative derivative(const LeafNumbers& v, std::span<const double> u, const LeafNumbers& gradients);
  const Surroundings& surroundings();
  std::vector<double> noise_limits();
  /// How much the derivative by dual numbers changes at this point when they are rounded at random.
  double noise_of_duals(const LeafNumbers& v, const ExactDerivative& here);

  CheckedFunction& f_;
  std::span<const double> u_;
  const LeafNumbers& gradients_;
  Random random_;
  std::optional<Surroundings> surroundings_;
};

}  // namespace retrace
