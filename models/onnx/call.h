// A call of an op as its operator in ONNX is built from it: the same record in all runs of a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/onnx/builder.h>
#include <retrace/models/onnx/traced_function.h>

namespace retrace::onnx {

/// The runs of a model, which have the same calls, and the names of their values in the graph.
struct TracedRuns {
  std::vector<TracedFunction> runs;
  std::vector<std::string> input_names;
  std::vector<std::string> names;  // of values by their numbers; empty: not built
};

/// One call in all runs.
class Call {
 public:
  Call(Builder& builder, TracedRuns& traced, std::size_t index) : build(builder), traced_(traced), index_(index) {}

  const std::string& op() const { return in_first_run().op; }
  int inputs() const { return static_cast<int>(in_first_run().inputs.size()); }
  int outputs() const { return static_cast<int>(in_first_run().outputs.size()); }

  /// The name of input i. Builds a leaf; throws ValueError for one that depends on the inputs by a way that is not on
  /// the tape.
  std::string in(int i) const;
  /// The input of that name in the op's formulas; empty if it was left out.
  std::string in(std::string_view name) const;
  /// Input i as the result of the call that computed it; null for a leaf.
  const TracedCall* maker(int i) const;
  std::string value(int number) const;
  int rank(int i) const { return value_of(in_first_run().inputs[static_cast<std::size_t>(i)]).shape.rank(); }
  Dtype dtype() const { return value_of(in_first_run().outputs[0]).dtype; }
  /// Axis -1 is the last.
  Lengths length(int i, int axis) const;
  std::vector<Lengths> lengths(int i) const;
  std::vector<Lengths> out_lengths(int j = 0) const;
  /// Whether all elements of leaf i are 0 in every run.
  bool is_zero(int i) const;
  /// The elements of leaf i in each run; undefined tensors for what a call computed.
  Tensors leaves(int i) const;

  /// Attributes. A number that is absent is the default, an attribute of integers may differ from run to run.
  bool has(std::string_view name) const { return in_first_run().find(name) != nullptr; }
  double number(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;  // the same in all runs
  bool flag(std::string_view name) const;
  std::string word(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name, std::size_t run = 0) const;
  Lengths each_integer(std::string_view name) const;
  /// The name of a tensor among the attributes; empty if there is none.
  std::string tensor(std::string_view name) const;

  std::size_t runs() const { return traced_.runs.size(); }
  const TracedCall& in_run(std::size_t run) const { return traced_.runs[run].calls[index_]; }
  const Shape& in_shape(int i, std::size_t run) const;
  const Shape& out_shape(int j, std::size_t run) const;
  const TracedRuns& traced() const { return traced_; }

  void result(std::string name, int j = 0) const;
  /// Throws ValueError with the name of the op and why it cannot be exported.
  [[noreturn]] void fail(std::string_view why) const;

  Builder& build;

 private:
  const TracedCall& in_first_run() const { return traced_.runs.front().calls[index_]; }
  const TracedValue& value_of(int number) const {
    return traced_.runs.front().values[static_cast<std::size_t>(number)];
  }

  TracedRuns& traced_;
  std::size_t index_;
};

/// The name of a leaf with these elements in the runs: as it is where they are always the same, repeated or cut to the
/// lengths of the runs where it has free axes. Throws ValueError, in the words of `what`, for one whose elements change
/// with the values of the inputs.
std::string build_leaf(Builder& build, const Tensors& in_runs, std::string_view name, const std::string& what);
/// The input of that number among the given ones, reshaped to the lengths of the runs.
std::string build_input(Builder& build, const TracedRuns& traced, int number);

}  // namespace retrace::onnx
