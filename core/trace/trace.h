// One forward and one backward as values: every tensor, every gradient and every contribution to one. A
// trace stands alone: it can be printed, saved, drawn and checked when the tape is gone.
//
//   Tape tape({.keep = true});
//   const Tensor loss = mean(square(model(x) - y));
//   const Trace trace = trace_backward(tape, loss, {.names = names_of(model)});
//   save(trace, "step.trace.safetensors");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/names.h>
#include <retrace/core/tape/op_info.h>

namespace retrace {

/// Of the finite elements: min, max, mean and the Euclidean norm (NaN if there are none); and how many are not finite.
struct Statistics {
  double min, max, mean, norm;
  std::int64_t nans, infinities;
};
/// The statistics of a tensor that has values. A dual counts by its value.
Statistics statistics_of(const Tensor& x);

/// The captured part of a tensor: nothing, if it was not held or received no gradient; all elements; or, above
/// TraceOptions::max_elements, statistics and the first elements.
struct Capture {
  Tensor values = {};  // undefined: nothing. With `statistics`: the first elements, in one axis
  std::optional<Statistics> statistics = {};

  bool exists() const { return values.defined(); }
  /// False where elements were left out: "not captured".
  bool is_complete() const { return exists() && !statistics; }
};
/// "(1, 2, 3, 4)"; of more numbers the first ones and the norm: "(1, 2, 3, ...; norm 5.47723)". Empty for nothing.
std::string short_text(const Capture& capture);

/// A tensor of the computation.
struct TraceNode {
  std::string name;
  Dtype dtype = f32;
  Shape shape;
  bool leaf = false;  // no record of this tape made it
  bool parameter = false;
  bool wants_gradient = false;
  Capture value;
  Capture gradient;                         // after the backward
  std::vector<std::string> row_names = {};  // of the rows of its matrices, in words; empty: they have numbers only
};

/// A call of a module.
struct TraceScope {
  std::string name;  // within the scope around it
  std::string path;  // "encoder/mha"
  std::string type;  // the label of its kind: "mha"
  int outer = -1;    // the number of the scope around it; -1: none
};

/// The contribution of a record to the gradient of one of its inputs: before + contribution = after, rounded once. The
/// first contribution to a node has nothing before it.
struct Contribution {
  Capture before, contribution, after;
};

/// A record with its values and gradients.
struct TraceRecord {
  std::string op;
  int scope = -1;  // in Trace::scopes
  std::string path;
  Formulas formulas;
  AttributeList attributes;
  std::vector<int> inputs;  // in Trace::nodes
  std::vector<std::string> input_names;
  std::vector<int> outputs;
  bool reached = false;                                    // whether its backward ran
  std::vector<Capture> output_gradients;                   // what arrived at each output
  std::vector<std::optional<Contribution>> contributions;  // one per input; nothing where no gradient was wanted
  std::optional<DirectionCheck> check = {};                // of an op of the user's own
};

/// A gradient that was there before the first record of the backward: the cotangent of an output, or what an earlier
/// backward left in a leaf.
struct TraceSeed {
  int node;
  Capture cotangent;
};

/// The derivative with respect to one element of a leaf, by three ways that share no code: the tape, a run on dual
/// numbers and a central difference.
struct ElementCheck {
  int node;
  std::int64_t position;  // in row-major order
  double tape, dual, difference;
};

/// How a gradient flows through time: |d loss / d h_t| by step for each state, slot or layer, and the matrix of
/// |d h_t / d x_s| (Frobenius norms), [t][s], empty where it was not computed.
struct GradientFlow {
  struct Norms {
    std::string name;
    std::vector<double> values;  // by time step
  };
  std::string title;
  std::int64_t times = 0;
  std::vector<Norms> norms;
  std::vector<std::vector<double>> matrix;
};

/// One forward and backward as data.
struct Trace {
  std::string title;
  bool expanded = false;  // fused ops were recorded as their composed twins: TapeOptions::expand_fused
  std::vector<TraceNode> nodes;
  std::vector<TraceScope> scopes;    // outer ones before inner ones
  std::vector<TraceRecord> records;  // in the order of the forward
  std::vector<TraceSeed> seeds;
  std::vector<ElementCheck> checks = {};
  std::vector<GradientFlow> flows = {};
  std::vector<std::string> notes = {};  // on the computation for a reader, below the title; a line each
};

/// The title of a trace, names of the author, and the extent of the capture.
struct TraceOptions {
  std::string title = {};
  Names names = {};
  std::int64_t max_elements = 65'536;  // of a tensor that is held whole
  std::int64_t slice = 256;            // how many elements of a larger one are held
};

/// Runs the backward of this tape, as Tape::backward does, and returns all that was computed. Values are there as far
/// as the tape, a record or a user held them: Tape({.keep = true}) holds them all. The gradients are those of
/// Tape::backward up to rounding: here every contribution is rounded before it is added, so that it can be shown.
/// Throws what Tape::backward throws.
Trace trace_backward(Tape& tape, const Tensor& loss, const TraceOptions& options = {});
Trace trace_backward(Tape& tape, const Tensors& outputs, const Tensors& cotangents, const TraceOptions& options = {});
/// A trace of a tape as it is, before or after its backward: without contributions, with the values and gradients that
/// are held.
Trace trace_of(const Tape& tape, const TraceOptions& options = {});

}  // namespace retrace
