// A case of the gradient-check table, run in one of several ways.
#pragma once

#include <vector>

#include <retrace/ops/checks/check_case.h>

namespace retrace {

using Numbers = std::vector<double>;
Numbers numbers_of(const Tensor& x);
/// x in another dtype, without a record.
Tensor converted(const Tensor& x, Dtype dtype);

/// Another use of an input. The gradient of a scaled copy comes back in a new buffer, that of a passed one in the
/// buffer in which it arrived.
enum class InputUse { none, scaled, passed };

/// How a case is run.
struct CaseSetting {
  Dtype dtype = f64;
  bool behind_identity = false;
  bool output_twice = false;
  double cotangent_factor = 1;
  int only = -1;                     // the only input that wants a gradient
  int only_output = -1;              // the only output that receives a gradient
  InputUse before = InputUse::none;  // of every input, before the case is recorded
  InputUse after = InputUse::none;
  bool in_views = false;  // inputs are the second rows of larger leaves, and begin in the middle of their storage
  bool let_go = false;    // only the tape holds inputs and outputs, so that gradients may take each other's place
  bool written_later =
      false;                  // through spans that were taken before it, all inputs change between forward and backward
  bool fails_first = false;   // a first walk throws, when all gradients of the inputs have begun
  bool walked_twice = false;  // a second tape adds to the gradients that the first one left
  bool used_up_in_between = false;  // or, as an optimiser has used these up, overwrites them
};

struct CaseOutcome {
  std::vector<Numbers> outputs, gradients;  // a gradient for each input, empty if it wants none
  bool recorded_itself = false;
};

CaseOutcome run_case(const CheckedName& checked, const CheckCase& one, const CaseSetting& setting);
/// The gradients of a case by itself, plus those of the other uses of its inputs.
std::vector<Numbers> with_uses(const std::vector<Numbers>& gradients, const CheckCase& one, const CaseSetting& setting);
/// The sum of the gradients of one run per output, where only that output receives a gradient.
std::vector<Numbers> sum_over_outputs(const CheckedName& checked, const CheckCase& one, const CaseOutcome& plain);
/// The largest |b - factor * a| of an element, divided by the largest element of its list or by 1, whichever is larger.
double distance(const std::vector<Numbers>& a, const std::vector<Numbers>& b, double factor = 1);

}  // namespace retrace
