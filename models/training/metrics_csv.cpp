#include <retrace/core/base/error.h>
#include <retrace/models/formats/csv_field.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/training/metrics_csv.h>

#include <algorithm>

namespace retrace {
std::vector<std::string> layers_in(std::span<const Metrics> history) {
  std::vector<std::string> layers;
  for (const Metrics& metrics : history) {
    for (const LayerGradient& each : metrics.last_step.gradient_norms) layers.push_back(each.layer);
    if (!layers.empty()) break;
  }
  return layers;
}

std::string csv_header(const Metrics& metrics, std::span<const std::string> layers) {
  std::string line = text("step,loss,gradient_norm,learning_rate,validation_loss,validation_", metrics.metric_name,
                          ",samples_per_second,seconds,memory_bytes,lesson");
  for (const std::string& layer : layers) line += "," + csv_field("gradient_norm of " + layer);
  return line + "\n";
}

std::string csv_line(const Metrics& metrics, std::span<const std::string> layers) {
  std::string line = std::to_string(metrics.step);
  for (const double number :
       {metrics.loss, metrics.last_step.gradient_norm, metrics.last_step.learning_rate, metrics.validation.loss,
        metrics.validation.metric, metrics.samples_per_second, metrics.seconds})
    line += "," + in_full(number);
  line += text(",", metrics.memory_bytes, ",", metrics.lesson);
  const std::vector<LayerGradient>& norms = metrics.last_step.gradient_norms;
  for (const std::string& layer : layers) {
    const auto found = std::ranges::find(norms, layer, &LayerGradient::layer);
    line += "," + (found == norms.end() ? std::string() : in_full(found->norm));
  }
  return line + "\n";
}

}  // namespace retrace
