// Gradients of a program in any language, asked for by lines of JSON.
//
// A request names the inputs, as nested lists, or as a number for one without axes:
//   {"x": {"q": [[0.5, -1], [2, 0.25]], "ids": [0, 2]}}
// and the answer is the result, a number or nested lists of one length at each level, or an object of several by name:
//   {"y": [0.1, 0.2]}
// With a cotangent, of the form of that y, the answer has J^T dy for the inputs of real numbers, and y or not:
//   {"x": {"q": [[0.5, -1], [2, 0.25]], "ids": [0, 2]}, "dy": [1.5, -0.5]}
//   {"dx": {"q": [[0.1, 0.3], [0.2, 0.4]]}}
// A line is one request or one answer. null stands for NaN. Instead of an answer, {"error": "why"} says what is wrong.
#pragma once

#include <string>
#include <vector>

#include <retrace/core/checks/foreign_function.h>
#include <retrace/models/checks/line_program.h>
#include <retrace/nn/module/module.h>

namespace retrace {

/// The function that a program computes, of inputs with these names. The program must live as long. Calls throw
/// ProgramError, with what the program answered, for anything but what is written above.
ForeignFunction foreign_function(LineProgram& program, const std::vector<std::string>& names);

}  // namespace retrace
