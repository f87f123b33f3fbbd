// Rules that every case obeys, whatever its formula.
#pragma once

#include <string>
#include <vector>

#include <retrace/ops/checks/check_case.h>

namespace retrace {

/// One line per rule that the case breaks:
/// - an op records itself under its name, and leaves its inputs as they were;
/// - an input gets the same gradient alone as together with the others;
/// - inputs behind `identity` and outputs used twice obey the chain rule;
/// - inputs that other ops use before and after this one get the sum of all gradients, whoever still holds them;
/// - a second backward walk adds to the gradients of the first, or overwrites those that were used up;
/// - the gradients of the outputs, one at a time, add up to the gradient of all; a zero cotangent gives zero;
/// - what is written to inputs after the op, through spans that were taken before it, changes no gradient;
/// - a backward that throws leaves no gradients;
/// - inputs may begin in the middle of a storage;
/// - two runs, on one thread and on two, give the same bits;
/// - f32 and dual numbers agree with f64.
std::vector<std::string> generic_failures(const CheckedName& checked, const CheckCase& one);

}  // namespace retrace
