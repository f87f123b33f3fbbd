// Sequence models as ONNX files.
#pragma once

#include <string>

#include <retrace/core/tensor/tensor.h>
#include <retrace/models/networks/sequence_model.h>

namespace retrace {

/// What a file of a sequence model has.
struct ExportedModel {
  bool answers_all_rows = false;  // the output "answers"; else only "y"
  std::string fixed_time;         // why the number of rows is that of the example; empty: it is free
};

/// Writes a model that reads x [batch, time, I] (or ids [batch, time], i64) with the outputs
///
///   y        [batch, O]        the answer after the last row
///   answers  [batch, time, O]  the answer after each row, if the model has them without reading all rows again
///
/// Batch and time are free; where constants of the model go on with time, such as tables of positions, up to that of
/// the example. A model that computes step by step becomes its first step and a Loop over the others; one that does so
/// without a state of a fixed size has the time of the example. Throws as export_onnx of a function does.
ExportedModel export_onnx(const std::string& path, const SequenceModel& model, const Tensor& example);

}  // namespace retrace
