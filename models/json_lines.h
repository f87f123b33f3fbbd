// What is written for other programs to read: one JSON object a line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <retrace/models/checks/checks.h>
#include <retrace/models/demos/demos.h>
#include <retrace/models/model_info.h>
#include <retrace/models/training/run.h>
#include <retrace/models/training/trainer.h>

namespace retrace {

/// How a training stands at a validation.
struct Metrics {
  std::int64_t step;
  double loss;  // the mean since the last validation
  StepReport last_step;
  std::string_view metric_name;
  Evaluation validation;
  double samples_per_second;
  double seconds;  // since the start
};

std::string to_json(const Metrics& metrics);
/// The whole run: names, numbers, the test metric beside its yardsticks, the hash of the weights.
std::string to_json(const Run& run);
/// The table of gradient checks in five numbers: cases, elements, worst_name, worst_error, failed.
std::string to_json(const std::vector<CheckRow>& rows);
std::string to_json(const ModelInfo& info);
/// {demos: [{name, title, tables: [{title, see, rows: [{column: cell}], finding, holds}]}], holds}, with null for what
/// is not finite.
std::string to_json(const std::vector<Demo>& demos);

}  // namespace retrace
