// The options of a gradient check, and its outcome.
#pragma once

#include <cmath>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

namespace retrace {

/// The limits of a check, and what it may assume of f.
struct GradcheckOptions {
  double limit = 1e-8;                  // of the finite differences
  double exact_limit = 1e-12;           // of the dual numbers
  double step = 4e-3;                   // the first, times max(1, |x|); shorter ones follow where f asks for them
  std::uint64_t seed = 0;               // of cotangents and directions
  int order = 1;                        // of the derivatives; 2: those of the gradients of u.f, for a random u
  std::vector<double> kinks = {};       // elements so close to one that a difference would straddle it are skipped
  std::vector<std::string> names = {};  // of the inputs, for the report
  std::int64_t max_elements = 3000;     // beyond, that many are drawn at random
  std::string name = {};                // of f, for the report; by default after the op that made its output
  bool fast = false;                    // for large models: three random directions, by dual numbers alone; element by
                                        // element only if one of them fails, to find the wrong ones
  bool allow_unused = false;            // f may ignore some of its inputs (but not all)
  bool allow_empty = false;             // inputs and outputs may have no elements; f is then run but not checked
  bool differences_only = false;        // no exact check: f does not run on dual numbers
  bool named_by_visit = false;          // f may use no other trainable leaf than the inputs; set by gradcheck(model, f)
};

/// How an element of a gradient was decided to be right or wrong.
enum class DecidedBy {
  difference,
  duals_within_noise,            // of the difference
  duals_at_kink,                 // of f
  duals_as_differences_diverge,  // at the edge of the domain of f, for example
};

/// One element of one input.
struct GradcheckElement {
  std::string input;
  std::int64_t index = 0;              // row-major
  std::vector<std::int64_t> position;  // the same, one index per axis
  double analytic = 0;
  double numeric = 0;
  double error = 0;  // |analytic - numeric| / max(|analytic|, |numeric|, rms of the input's gradient)
  DecidedBy decided_by = DecidedBy::difference;
  // Where dual numbers decide: the derivative by them. The error is then |analytic - exact|, less the rounding noise of
  // both where it exceeds the limit, on the same scale. NaN if the difference decides.
  double exact = std::numeric_limits<double>::quiet_NaN();
  double noise = 0;  // the rounding noise of the difference, if it agrees within that
  double below = 0;  // at a kink: the slopes on both sides
  double above = 0;
};

/// Why an element is right that its difference did not decide: "x [0] is at a kink, with slopes of -1 and 1 ...".
std::string explanation_of(const GradcheckElement& element);

/// Whether error a is worse than error b. NaN is the worst of all.
inline bool is_worse(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

/// The outcome of a check.
struct GradcheckResult {
  std::string name;            // of f
  std::int64_t elements = 0;   // checked
  int directions = 0;          // of a fast check that passed: the elements were checked along these, together
  std::int64_t skipped = 0;    // too close to a kink
  std::int64_t failed = 0;     // of those checked
  std::int64_t undecided = 0;  // of those checked: within the rounding noise of their differences
  std::int64_t at_kinks = 0;   // of those checked: right, at a kink
  std::int64_t divergent = 0;  // of those checked: right, where differences do not converge
  double noise = 0;            // the largest rounding noise of an undecided element
  double worst_error = 0;
  double exact_error = 0;               // |u.(J v) - (J^T u).v| beyond exact_noise, over the sum of |terms|
  double exact_noise = 0;               // an estimate of the rounding errors of both; 0 if not needed
  std::string not_exact;                // why there was no exact check; otherwise empty
  std::string vacuous;                  // why the check says nothing about f or an input; otherwise empty
  std::string not_repeatable;           // how the gradients of two backwards differ; otherwise empty
  std::vector<GradcheckElement> worst;  // the worst first, at most ten
  std::vector<GradcheckElement> told;   // right at kinks and where differences diverge, at most ten
  double limit = 0;
  double exact_limit = 0;

  /// Whether both errors are within their limits. A NaN error, a vacuous check and a backward that does not repeat
  /// itself fail.
  bool passed() const {
    return vacuous.empty() && not_repeatable.empty() && worst_error <= limit && exact_error <= exact_limit;
  }
};
/// "gradcheck passed: ...", and for a failure the worst elements with their ratio (2.000 and -1.000 tell the bug).
std::ostream& operator<<(std::ostream& out, const GradcheckResult& result);

}  // namespace retrace
