// Derivatives by finite differences, and how far their roundings may be off.
#pragma once

#include <functional>

namespace retrace {

/// u.(f(x + h) - f(x - h)) / width at one step h.
struct Slope {
  double value = 0;
  double width = 0;      // 2h, as far as x has the bits for it
  double magnitude = 0;  // sum_k |u_k| max(|f_k(x + h)|, |f_k(x - h)|)
};
using SlopeAt = std::function<Slope(double h)>;

/// A derivative, extrapolated to a step of 0.
struct Difference {
  double value = 0;
  double width = 0;      // of the shortest step that it rests on
  double magnitude = 0;  // of that step
};

/// Ridders (1982): slopes at smaller and smaller steps, extrapolated; of all extrapolations the one that changed least
/// is taken. Smooth functions need three steps, and no more are made once a change is below `tolerance` of the value
/// (of `scale`, where that is larger).
Difference extrapolated_difference(const SlopeAt& slope, double first_step, double tolerance, double scale);

/// A bound of the rounding error of that difference, as small as it can be: each result of f is rounded, by eps / 2. A
/// slope is then wrong by eps magnitude / width, and an extrapolation by at most prod_j (4^j + 1) / (4^j - 1) < 2 times
/// the error of its slope of the shortest step.
double least_rounding_noise(const Difference& difference);
/// The same where f rounds more than its results: by as much as slopes differ where nothing but roundings makes them
/// differ. Truncation is no part of it: a difference that has not converged, at a kink for example, gets no allowance.
double rounding_noise(const SlopeAt& slope, double first_step, const Difference& difference);

}  // namespace retrace
