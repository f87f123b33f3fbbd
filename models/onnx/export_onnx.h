// Models as ONNX files, which other programs run: onnxruntime, in Python, C#, on telephones or in a browser.
//
//   Lstm lstm(3, 8, random);
//   export_onnx("lstm.onnx", [&](const Tensors& in) { return Tensors{lstm(in[0]).y}; },
//               {.inputs = {{"x", example, {"batch", "time"}}}, .outputs = {"y"}, .names = names_of(lstm)});
//
// README.md lists what every op becomes, and what cannot be exported.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/onnx/traced_function.h>
#include <retrace/nn/module/names.h>

namespace retrace {

/// An input of the file.
struct OnnxInput {
  std::string name;
  Tensor example;                 // f32, f64 or i64, as the file is to have it
  std::vector<std::string> axes;  // the names of its free axes, "" for a fixed one; those beyond the end are fixed
};

/// The inputs and outputs of a file.
struct OnnxOptions {
  std::vector<OnnxInput> inputs;
  std::vector<std::string> outputs;  // their names
  Names names = {};                  // of weights and modules
};

/// Writes what f computes from the inputs, as a file whole or not at all. f is run a few times: at the lengths of the
/// examples, at other lengths of the free axes, and at other values, by which is found what depends on them. Axes of
/// the same name have the same length. A constant of f that goes on with an axis, such as a table of positions, is
/// stored for two steps more than the example has, so that longer inputs are refused by the program that runs the file.
///
/// Throws ValueError, naming the op and its module, for what ONNX cannot say or what does not keep its form at other
/// lengths, FileError where the file cannot be written, and what f throws.
void export_onnx(const std::string& path, const onnx::FunctionOfTensors& f, const OnnxOptions& options);

/// y = model(x) with free lengths: of the first axis, "batch", and of the second one, "time", of a sequence: x
/// [B, T, F], or ids [B, T].
template <Module M> void export_onnx(const std::string& path, const M& model, const Tensor& example) {
  const bool is_sequence = example.rank() == (example.dtype() == i64 ? 2 : 3);
  std::vector<std::string> axes{"batch"};
  if (is_sequence) axes.push_back("time");
  export_onnx(path, [&](const Tensors& in) { return Tensors{model(in[0])}; },
              {.inputs = {{"x", example, axes}}, .outputs = {"y"}, .names = names_of(model)});
}

}  // namespace retrace
