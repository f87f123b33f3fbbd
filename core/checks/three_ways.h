// A derivative by dual numbers and by a central difference, beside that of a backward.
#pragma once

#include <functional>
#include <vector>

#include <retrace/core/checks/checked_function.h>

namespace retrace {

/// The derivative of sum_j u_j f_j with respect to an element of a leaf, by ways that share no code with a backward.
class ThreeWays {
 public:
  /// u has a number for each real number that f gives.
  ThreeWays(const std::function<Tensors()>& f, const NamedLeaves& leaves, std::vector<double> u);

  std::size_t results() const { return f_.evaluate().size(); }
  /// By an extrapolated central difference: NaN at a kink, where the slopes on both sides differ.
  double by_difference(std::size_t leaf, std::size_t element, double by_backward) const;
  /// NaN where f does not run on dual numbers.
  double by_duals(std::size_t leaf, std::size_t element);

 private:
  CheckedFunction f_;
  std::vector<double> u_;
};

/// All numbers of these tensors, one after the other.
std::vector<double> all_numbers(const Tensors& tensors);

}  // namespace retrace
