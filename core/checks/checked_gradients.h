// The check of one element of a gradient: by a finite difference, or by dual numbers where that cannot decide.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <retrace/core/checks/checked_function.h>
#include <retrace/core/checks/exact_check.h>
#include <retrace/core/checks/gradcheck_result.h>

namespace retrace {

/// Checks elements of the gradients of u.f at the current point of f.
class CheckedGradients {
 public:
  /// The derivative along a direction by dual numbers and by backward; nothing if f does not run on dual numbers.
  using Exact = std::function<std::optional<ExactDerivative>(const LeafNumbers& direction)>;

  CheckedGradients(CheckedFunction& f, std::span<const double> u, const LeafNumbers& gradients, ExactCheck& duals,
                   Exact exact, const GradcheckOptions& options);

  double rms(std::size_t leaf) const { return rms_[leaf]; }
  /// Checks element i of leaf k, and leaves its names to the caller. With `persist`, looks for a step at which the
  /// difference agrees; a check that has failed already need not.
  GradcheckElement check(std::size_t k, std::size_t i, bool persist);

 private:
  struct Place {
    std::size_t leaf, element;
  };
  double relative(double distance, double a, double b, const Place& place) const;
  LeafNumbers direction_to(const Place& place) const;
  void decide_within_noise(GradcheckElement& element, const Place& place, double noise) const;
  void decide_by_duals(GradcheckElement& element, const Place& place, DecidedBy reason) const;
  bool is_at_kink(GradcheckElement& element, const Place& place, double step) const;

  CheckedFunction& f_;
  std::span<const double> u_;
  const LeafNumbers& gradients_;
  ExactCheck& duals_;
  Exact exact_;
  const GradcheckOptions& options_;
  std::vector<double> rms_;  // of each gradient
  double rms_of_all_;
};

}  // namespace retrace
