// What a function computes, as calls of ops on numbered values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/names.h>

namespace retrace::onnx {

/// Outputs from inputs.
using FunctionOfTensors = std::function<Tensors(const Tensors&)>;

/// A value: an input, a leaf (a weight or a constant, whose elements it holds), or what a call computed.
struct TracedValue {
  Shape shape;
  Dtype dtype;
  int input = -1;  // of the function
  Tensor leaf;
  std::string name;  // of a weight; may be empty
};

/// A record of the tape.
struct TracedCall {
  std::string op, path;  // path: of the modules around it, "encoder/mha"
  AttributeList attributes;
  std::vector<int> inputs, outputs;                  // values by their numbers
  std::vector<std::string> input_names;              // as in the op's formulas: "x", "gamma"
  std::vector<std::pair<std::string, int>> tensors;  // those among the attributes

  /// Null if there is none of that name.
  const AttributeValue* find(std::string_view name) const;
};

/// One run of a function.
struct TracedFunction {
  Tensors inputs;
  std::vector<TracedValue> values;  // in the order in which they occur: the same for two runs of the same calls
  std::vector<TracedCall> calls;
  std::vector<int> outputs;
};

/// One run of f. Its inputs are copied, and floating-point ones are watched, so that everything that depends on them is
/// recorded; expand_fused as in TapeOptions.
TracedFunction trace_function(const FunctionOfTensors& f, const Tensors& inputs, const Names& names, bool expand_fused);

/// The first difference between the calls of two runs, but for lengths and numbers, in words; empty if there is none.
std::string difference(const TracedFunction& a, const TracedFunction& b);

}  // namespace retrace::onnx
