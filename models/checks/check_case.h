// A row of the gradient-check table: a function of tensors at a point.
#pragma once

#include <string>
#include <vector>

#include <retrace/core/gradcheck.h>

namespace retrace {

struct CheckCase {
  Function function;
  Tensors inputs;                  // f64; integers are constants
  std::vector<double> kinks = {};  // see GradcheckOptions
};

/// All cases of an op or a module.
struct CheckedName {
  std::string name;
  bool is_op = true;         // must then have recorded itself under its name
  std::vector<CheckCase> cases;
};

/// Every op of ops.def (a missing one does not compile), and every module.
std::vector<CheckedName> op_cases();
std::vector<CheckedName> module_cases();

}  // namespace retrace
