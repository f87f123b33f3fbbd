// The metrics of a training while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/gradient_norms.h>

namespace retrace {

/// One update of the weights.
struct StepReport {
  double loss = 0;
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  std::vector<LayerGradient> gradient_norms =
      {};  // before clipping; of a step that FitOptions::watch_gradients reports
};

/// The metrics of a training at a validation.
struct Metrics {
  std::int64_t step = 0;
  double loss = 0;  // the mean since the last validation
  StepReport last_step = {};
  std::string_view metric_name = {};
  Evaluation validation = {};
  double samples_per_second = 0;
  double seconds = 0;             // since the start, including those before a resume
  std::int64_t memory_bytes = 0;  // peak use by tensors so far
  std::int64_t lesson = 0;        // of the task's curriculum
};

/// One line of metrics.jsonl.
std::string to_json(const Metrics& metrics);
/// Reads a line that to_json(Metrics) wrote; null becomes NaN. For anything else, throws a ValueError that names the
/// `place` of the line, the expected value and the value found.
Metrics metrics_from_json(const std::string& place, const std::string& line);

}  // namespace retrace
