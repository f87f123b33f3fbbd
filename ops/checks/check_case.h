// A case of the gradient-check table: a function of tensors at a point.
#pragma once

#include <string>
#include <vector>

#include <retrace/core/checks/gradcheck.h>

namespace retrace {

struct CheckCase {
  Function function;
  Tensors inputs;                  // f64; integers are constants
  std::vector<double> kinks = {};  // see GradcheckOptions
  bool holds_inputs = false;       // the function holds its inputs, the weights of a module: they are moved in place
  std::vector<std::string> names = {};  // of the inputs; "input 0", "input 1", ... where there are none
  int derivatives = 2;                  // that the function has at the point
};
using CheckCases = std::vector<CheckCase>;

/// All cases of an op or a module.
struct CheckedName {
  std::string name;
  bool is_op = true;  // must then have recorded itself under its name
  CheckCases cases;
};

}  // namespace retrace
