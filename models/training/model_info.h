// The parameters of a model, and the operations of a step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <retrace/models/training/run.h>

namespace retrace {

/// Sizes and costs of a model.
struct ModelInfo {
  struct Weight {
    std::string name;
    Shape shape;
    std::int64_t count;
  };
  std::string model;
  std::string task;                 // whose sizes it has
  std::int64_t flops_a_sample = 0;  // of forward and backward
  std::int64_t batch = 0;           // samples per step
  std::int64_t parameters = 0;
  std::int64_t bytes = 0;
  std::vector<Weight> weights;
};
/// Describes the model of a run that has not begun.
ModelInfo model_info(const RunOptions& options);

/// The same as a JSON object.
std::string to_json(const ModelInfo& info);

}  // namespace retrace
