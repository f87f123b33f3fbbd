// Chosen elements of a gradient by three ways that share no code: the backward of a tape, a run on dual numbers and a
// central difference.
//
//   const std::function<Tensors()> f = [&] { return Tensors{mean(square(model(x) - y))}; };
//   Tape tape({.keep = true});
//   Trace trace = trace_backward(tape, f()[0], {.names = names_of(model)});
//   check_elements(trace, f, {{"out.weight", model.out.weight}});
//   for (const ElementCheck& check : trace.checks)
//     std::cout << check.tape << " " << check.dual << " " << check.difference << "\n";
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <retrace/core/trace/trace.h>

namespace retrace {

/// Which elements are checked.
struct ElementCheckOptions {
  std::int64_t per_leaf = 2;  // drawn at random
  std::uint64_t seed = 0;
};

/// Adds to trace.checks some elements of each of these leaves: the derivative of sum_j <cotangents[j], f()[j]> (without
/// cotangents, of the loss f()[0]) as the trace has it, by dual numbers (NaN where f does not run on them) and by an
/// extrapolated central difference (NaN at a kink). f computes what was traced, from what these leaves hold: meanwhile
/// f64 or dual numbers of the same values, restored at the end. Leaves go by their names in the trace; those that it
/// does not have, and integers, are left out. Throws ShapeError unless there are as many cotangents as numbers that f
/// gives, and DtypeError if f cannot compute in f64, because it captures f32 tensors that are not among the leaves.
void check_elements(Trace& trace, const std::function<Tensors()>& f,
                    const std::vector<std::pair<std::string, Tensor>>& leaves, const Tensors& cotangents = {},
                    const ElementCheckOptions& options = {});

}  // namespace retrace
