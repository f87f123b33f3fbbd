// Derivatives by finite differences, and bounds on their rounding errors.
#pragma once

#include <functional>
#include <limits>

namespace retrace {

/// u.(f(x + h) - f(x - h)) / width at one step h.
struct Slope {
  double value = 0;
  double width = 0;      // (x + h) - (x - h) after rounding, about 2h
  double magnitude = 0;  // sum_k |u_k| max(|f_k(x + h)|, |f_k(x - h)|)
  double moved = 0;      // the same sum over the results that differ
};
/// u.(f(x) - f(x - h)) / h and u.(f(x + h) - f(x)) / h.
struct Sides {
  double below = 0;
  double above = 0;
};
/// The difference quotient for a step h.
using SlopeAt = std::function<Slope(double h)>;

/// A derivative, extrapolated to a step of 0.
struct Difference {
  double value = std::numeric_limits<double>::quiet_NaN();
  double change = std::numeric_limits<double>::infinity();  // by the last extrapolation: an estimate of the error
  double width = 0;                                         // of the shortest step that it uses
  double magnitude = 0;                                     // of that step
  double moved = 0;                                         // of that step
  bool converged = false;                                   // the change is as small as asked for, or rounding noise
};

/// Whether a difference is what its caller expects.
using Accepts = std::function<bool(const Difference&)>;

/// The method of Ridders (1982): extrapolates slopes at smaller and smaller steps and returns the extrapolation that
/// changed least. Smooth functions need three steps; it stops as soon as the change is at most `tolerance` times the
/// larger of the value and `scale`. If that is not accepted, f may vary faster than the steps are short, or not be
/// defined that far: it begins again, for the value only, with steps that are shorter by a factor of 4096 each time,
/// down to 5e-26 times the first. Where none is accepted, it returns the least uncertain one.
Difference extrapolated_difference(const SlopeAt& slope, double first_step, double tolerance, double scale,
                                   const Accepts& accepts);

/// A bound on the rounding error of that difference if f rounds nothing but its results, each by eps / 2. The error of
/// a slope is then eps magnitude / width, and that of an extrapolation at most prod_j (4^j + 1) / (4^j - 1) < 2 times
/// the error of the slope at its shortest step.
double min_rounding_noise(const Difference& difference);
/// An estimate of the rounding error if f also rounds intermediate values: measured on slopes that should differ by
/// rounding alone. Excludes truncation: a difference that has not converged, at a kink for example, gets no allowance.
double rounding_noise(const SlopeAt& slope, double first_step, const Difference& difference);

}  // namespace retrace
