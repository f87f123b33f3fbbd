// Lengths that are free in a file: a function is run at several of them, and what changes is what depends on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace::onnx {

/// A length in each of the runs.
using Lengths = std::vector<std::int64_t>;

/// Whether it is the same in all runs.
bool is_fixed(const Lengths& lengths);

/// Axes with this name of some inputs, all as long as that one.
struct FreeAxis {
  std::string name;
  int input, axis;  // the first that has the name
  Lengths lengths;
};

/// first + factor * the product of the lengths of the free axes `of`.
struct LengthFormula {
  std::int64_t first, factor;
  std::vector<std::size_t> of;
};
/// Nothing if no such formula gives the lengths of all runs.
std::optional<LengthFormula> formula_of(const Lengths& lengths, const std::vector<FreeAxis>& axes);

/// The examples of all runs: those that were given, with their free axes lengthened by up to two steps, which repeat
/// the first ones; one more run has the lengths of the first one and other values, which are valid ids and lengths if
/// the given ones are.
struct Examples {
  std::vector<FreeAxis> axes;
  std::vector<Tensors> runs;  // the first has the greatest lengths, the last has the other values
};
/// axes[k] names the free axes of input k, "" being a fixed one; those beyond its end are fixed.
Examples make_examples(const Tensors& given, const std::vector<std::vector<std::string>>& axes);

}  // namespace retrace::onnx
