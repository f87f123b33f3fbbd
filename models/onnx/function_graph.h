// From the runs of a function to nodes of a graph.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/onnx/call.h>

namespace retrace::onnx {

/// f at all examples. Throws ValueError if its calls are not the same.
TracedRuns trace_runs(const FunctionOfTensors& f, const Examples& examples, const Names& names,
                      std::vector<std::string> input_names);
/// Builds the calls, and gives the names of the outputs.
std::vector<std::string> build_calls(Builder& build, TracedRuns& traced);
/// Of output k.
ValueInfo output_info(const Builder& build, const TracedRuns& traced, std::size_t k, std::string name);
ValueInfo input_info(const Builder& build, const Examples& examples, std::size_t k, std::string name);
/// The file of a finished graph.
void write_model(const std::string& path, Graph graph);

}  // namespace retrace::onnx
