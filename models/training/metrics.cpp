#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/training/metrics.h>

#include <limits>

namespace retrace {
namespace {

JsonObject layers_to_json(const std::vector<LayerGradient>& layers) {
  JsonObject object;
  for (const LayerGradient& each : layers) object.add(each.layer, each.norm);
  return object;
}

}  // namespace

std::string to_json(const Metrics& metrics) {
  JsonObject object{{"step", metrics.step},
                    {"loss", metrics.loss},
                    {"gradient_norm", metrics.last_step.gradient_norm},
                    {"learning_rate", metrics.last_step.learning_rate},
                    {"validation_loss", metrics.validation.loss},
                    {text("validation_", metrics.metric_name), metrics.validation.metric},
                    {"samples_per_second", metrics.samples_per_second},
                    {"seconds", metrics.seconds},
                    {"memory_bytes", metrics.memory_bytes},
                    {"lesson", metrics.lesson}};
  if (!metrics.last_step.gradient_norms.empty())
    object.add("gradient_norms", layers_to_json(metrics.last_step.gradient_norms));
  return object.text();
}

Metrics metrics_from_json(const std::string& place, const std::string& line) {
  constexpr double not_finite = std::numeric_limits<double>::quiet_NaN();
  const JsonFields fields(place, line);
  const auto number = [&](std::string_view name) { return fields.number_or_null(name, not_finite); };
  Metrics metrics;
  for (const Metric metric : {Metric::accuracy, Metric::mse, Metric::bits_per_character, Metric::perplexity})
    if (fields.has(text("validation_", name_of(metric)))) metrics.metric_name = name_of(metric);
  metrics.step = fields.integer("step");
  metrics.loss = number("loss");
  metrics.last_step = {metrics.loss, number("gradient_norm"), number("learning_rate")};
  if (fields.has("gradient_norms"))
    for (const std::string& layer : fields.members("gradient_norms"))
      metrics.last_step.gradient_norms.push_back({layer, number(text("gradient_norms.", layer))});
  metrics.validation = {number("validation_loss"), number(text("validation_", metrics.metric_name))};
  metrics.samples_per_second = number("samples_per_second");
  metrics.seconds = number("seconds");
  metrics.memory_bytes = fields.integer("memory_bytes");
  metrics.lesson = fields.integer("lesson");
  return metrics;
}

}  // namespace retrace
