// Functions that between them record every op that models/onnx can export.
#pragma once

#include <retrace/models/onnx/export_onnx.h>
#include <retrace/nn/nn.h>

#include <vector>

namespace retrace {

/// f of x [batch, time, 4] and, where `has_lengths`, lengths [batch] (i64).
struct ExportedFunction {
  const char* name;
  onnx::FunctionOfTensors f;
  bool has_lengths = false;
  bool in_f64 = true;  // whether onnxruntime has the operators in f64
};

/// With weights drawn from the generator, in the default dtype.
std::vector<ExportedFunction> exported_functions(Random& random);

}  // namespace retrace
