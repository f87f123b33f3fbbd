// A row of the gradient-check table: a function of tensors at a point.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/gradcheck.h>

namespace retrace {

struct CheckCase {
  Function function;
  Tensors inputs;                  // f64; integers are constants
  std::vector<double> kinks = {};  // see GradcheckOptions
  bool holds_inputs = false;       // the function holds its inputs, the weights of a module: they are moved in place
  std::vector<std::string> names = {};  // of the inputs; "input 0", "input 1", ... where there are none
};

/// All cases of an op or a module.
struct CheckedName {
  std::string name;
  bool is_op = true;  // must then have recorded itself under its name
  std::vector<CheckCase> cases;
};

/// Every op of ops.def (a missing one does not compile), and every module.
std::vector<CheckedName> op_cases();
std::vector<CheckedName> module_cases();
/// A model by its name (sequence_model.h), at small sizes: every weight, and the sequence. Throws ShapeError where it
/// does not answer [B, O].
CheckedName registered_case(std::string_view name);

}  // namespace retrace
