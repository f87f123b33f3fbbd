// The constants of an op, and the notation of formulas.
//
// A formula is a list of equations, separated by ", ": "y = x W^T + b", "da = dy b^T, db = a^T dy". All formulas use
// one notation, which both people and programs can read:
//
//   names         letters and digits, then _part or ': x0, z_i, c'. An input has the name that `inputs` gives it, y is
//                 the output, dx the gradient of x; any other name is that of an output or is defined by an equation
//   a b           the matrix product in matmul, linear, attention and the recurrent ops, otherwise elementwise
//   a / b         divided by the product that follows; a + b, a - b, -a
//   a^b, a^-b     a power; a^T exchanges the last two axes. Both bind tightest
//   tanh x        a function of the one factor that follows; f(a, b) of several. softmax and log_softmax go along the
//                 last axis, reshape(x, [2, 3]) and broadcast(x, [2, 3]) name the new shape, f32(x) the new dtype
//   sum, mean, min, max, prod     of the product that follows: of all its elements, or, at the end of the equation,
//                 "along axis 1" or "along axes 0 and 2". sum_k, sum_(k <= j): of what follows for each such k
//   x[i, 0:3]     elements, counted from 0: positions, ranges start:stop:step as in Python, ":" for a whole axis,
//                 "new" for an inserted axis, "..." for axes that are not named
//   [x0; x1]      concatenation along the axis that the equation names
//   [a > b]       1 if the condition holds, else 0
//   a where c, b where d, else e      the first value whose condition holds
//   a in {0, 2}   one of these
//   a += b        adds b to the value already in a
//   for each step, for each head      at the end: repeats the equations
//
// Where an op repeats an input to fit another (broadcasting), that input's gradient is summed over the repetitions.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace retrace {

class Record;
class Tensor;
struct Attribute;

/// The formulas of one call of an op.
struct Formulas {
  std::string forward;
  std::string backward;
};

/// The derivative of sum dy y of one call, along one direction v of its inputs, by three ways: sum dx v of what its
/// backward sent, its forward on dual numbers, and a central difference. NaN where its forward does not run that way.
struct DirectionCheck {
  double backward, dual, difference;
};

/// Stands beside the op's code. Formulas are for people: tapes, traces and reports print them.
struct OpInfo {
  const char* name;      // "tanh"
  const char* forward;   // "y = tanh x"
  const char* backward;  // "dx = dy (1 - y^2)": the vector-Jacobian product
  const char* inputs;    // "x", or "a, b": the names of the inputs, in order
  /// Gives the formulas with the attributes and sizes of one call; null if these make no difference. Only
  /// Record::formulas() calls it, when a tape is printed, so recording costs nothing.
  Formulas (*formulas_of_call)(const Record& record) = nullptr;
  /// Gives the constants of one call; null if the op has none. With `inputs` they say all that a reader needs to
  /// compute the outputs again. An attribute "inputs" replaces the list above where a call left optional inputs out.
  /// Only Record::attribute_list() and input_names() call it. See core/tape/attribute.h.
  std::vector<Attribute> (*attributes_of_call)(const Record& record) = nullptr;
  /// Checks one call of an op whose forward is the user's: dy arrived, and its backward sent dx (undefined: nothing).
  /// Null for the ops of the library, whose formulas the study page knows. Only trace_backward() calls it.
  DirectionCheck (*check_of_call)(const Record& record, const Tensor& dy, std::span<const Tensor> dx) = nullptr;
};

}  // namespace retrace
