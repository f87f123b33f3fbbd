// What is constant about an op.
#pragma once

namespace retrace {

/// Stands beside the op's code. Formulas are for people: tapes, traces and reports print them.
struct OpInfo {
  const char* name;      // "tanh"
  const char* forward;   // "y = tanh x"
  const char* backward;  // "dx = dy (1 - y^2)": the vector-Jacobian product
  const char* inputs;    // "x", or "a, b": the names of the inputs, in order
};

}  // namespace retrace
