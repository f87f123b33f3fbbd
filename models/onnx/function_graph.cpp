#include <retrace/models/onnx/function_graph.h>

#include <algorithm>

#include <retrace/core/base/error.h>
#include <retrace/core/files/replacement_file.h>
#include <retrace/models/onnx/operators.h>

namespace retrace::onnx {
namespace {

/// Whether the tape does not have the mask of an attention, which stored its weights instead. Where fused ops are
/// recorded as their parts, it is an operand of a sum.
bool hides_a_mask(const TracedCall& call) {
  return call.op.ends_with("attention") && (call.find("mask") != nullptr || call.find("zeros") != nullptr);
}

ValueInfo value_info(const Builder& build, const std::vector<Lengths>& axes, std::string name, Dtype dtype) {
  ValueInfo info{std::move(name), element_type(dtype), {}};
  for (const Lengths& axis : axes) info.axes.push_back(build.axis(axis));
  return info;
}

}  // namespace

TracedRuns trace_runs(const FunctionOfTensors& f, const Examples& examples, const Names& names,
                      std::vector<std::string> input_names) {
  TracedRuns traced;
  traced.input_names = std::move(input_names);
  for (const bool expand_fused : {false, true}) {
    traced.runs.clear();
    for (const Tensors& inputs : examples.runs) {
      traced.runs.push_back(trace_function(f, inputs, names, expand_fused));
      if (const std::string found = difference(traced.runs.front(), traced.runs.back()); !found.empty())
        throw ValueError(
            text("export_onnx: the model computes in another way at other lengths or values of its inputs: ", found,
                 "; fix the length on which it depends, by leaving out the name of that axis"));
    }
    if (std::ranges::none_of(traced.runs.front().calls, hides_a_mask)) break;
  }
  traced.names.resize(traced.runs.front().values.size());
  return traced;
}

std::vector<std::string> build_calls(Builder& builder, TracedRuns& traced) {
  for (std::size_t k = 0; k < traced.runs.front().calls.size(); ++k) onnx::build(Call(builder, traced, k));
  std::vector<std::string> outputs;
  for (const int number : traced.runs.front().outputs)
    outputs.push_back(traced.names[static_cast<std::size_t>(number)]);
  return outputs;
}

ValueInfo output_info(const Builder& build, const TracedRuns& traced, std::size_t k, std::string name) {
  const std::size_t number = static_cast<std::size_t>(traced.runs.front().outputs[k]);
  const TracedValue& value = traced.runs.front().values[number];
  std::vector<Lengths> axes(static_cast<std::size_t>(value.shape.rank()));
  for (const TracedFunction& run : traced.runs)
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      axes[axis].push_back(run.values[number].shape[static_cast<int>(axis)]);
  return value_info(build, axes, std::move(name), value.dtype);
}

ValueInfo input_info(const Builder& build, const Examples& examples, std::size_t k, std::string name) {
  std::vector<Lengths> axes(static_cast<std::size_t>(examples.runs[0][k].rank()));
  for (const Tensors& run : examples.runs)
    for (std::size_t axis = 0; axis < axes.size(); ++axis) axes[axis].push_back(run[k].dim(static_cast<int>(axis)));
  return value_info(build, axes, std::move(name), examples.runs[0][k].dtype());
}

void write_model(const std::string& path, Graph graph) {
  remove_unused(graph);
  const std::string bytes = model_file(graph);
  ReplacementFile file("export_onnx", path);
  file.write(bytes.data(), bytes.size());
  file.put_into_place();
}

}  // namespace retrace::onnx
