#include <retrace/models/onnx/export_onnx.h>

#include <retrace/models/onnx/function_graph.h>

namespace retrace {

void export_onnx(const std::string& path, const onnx::FunctionOfTensors& f, const OnnxOptions& options) {
  using namespace onnx;
  Tensors given;
  std::vector<std::vector<std::string>> axes;
  std::vector<std::string> input_names;
  for (const OnnxInput& input : options.inputs) {
    given.push_back(input.example);
    axes.push_back(input.axes);
    input_names.push_back(input.name);
  }
  const Examples examples = make_examples(given, axes);
  TracedRuns traced = trace_runs(f, examples, options.names, input_names);
  if (traced.runs.front().outputs.size() != options.outputs.size())
    throw ValueError(text("export_onnx: the function has ", traced.runs.front().outputs.size(), " outputs, but ",
                          options.outputs.size(), " names were given; give one for each"));
  Builder builder(examples.axes, input_names);
  for (std::size_t k = 0; k < given.size(); ++k)
    builder.graph().inputs.push_back(input_info(builder, examples, k, input_names[k]));
  const std::vector<std::string> results = build_calls(builder, traced);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const std::string name = builder.new_name(options.outputs[k]);
    builder.graph().nodes.push_back({"Identity", {results[k]}, {name}, {}});
    builder.graph().outputs.push_back(output_info(builder, traced, k, name));
  }
  write_model(path, std::move(builder.graph()));
}

}  // namespace retrace
