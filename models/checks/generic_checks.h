// What must hold of every case, whatever its formula.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/checks/check_case.h>

namespace retrace {

/// One line for each rule that the case breaks: an op records itself under its name; each input alone gets the gradient
/// that it gets beside the others; inputs behind `identity` and outputs used twice give what the chain rule says; inputs
/// that other ops use, too, before this one and after it, get the sum of all gradients, whoever still holds them; a second
/// walk adds to the gradients of the first, or overwrites those that were used up; a gradient that flows back to one
/// output alone is its part of the whole; inputs may begin in the middle of a storage; a zero cotangent gives zero; twice
/// gives the same bits, on one thread and on two; inputs are untouched; f32 and dual numbers agree with f64.
std::vector<std::string> generic_failures(const CheckedName& checked, const CheckCase& one);

}  // namespace retrace
