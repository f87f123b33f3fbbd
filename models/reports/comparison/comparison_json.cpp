#include <retrace/models/formats/json_text.h>
#include <retrace/models/reports/comparison/comparison.h>

namespace retrace {

std::string to_json(const Comparison& comparison) {
  std::vector<JsonObject> models;
  for (const ModelResult& result : comparison.results) {
    std::vector<JsonObject> tried;
    for (const auto& [rate, loss] : result.tried) tried.push_back({{"learning_rate", rate}, {"validation_loss", loss}});
    models.push_back({{"model", result.name},
                      {"hidden", result.hidden},
                      {"parameters", result.parameters},
                      {"flops_a_sample", result.flops_a_sample},
                      {"learning_rate", result.learning_rate},
                      {"optimizer", result.optimizer},
                      {"schedule", result.schedule},
                      {"tried", tried},
                      {"values", result.values},
                      {"value", result.value.mean},
                      {"half_width", result.value.half_width},
                      {"difference", result.against_first.mean},
                      {"difference_half_width", result.against_first.half_width},
                      {"seconds", result.seconds},
                      {"seconds_to_threshold", result.seconds_to_threshold},
                      {"samples_to_threshold", result.samples_to_threshold}});
    models.back().add(to_json(result.form));
  }
  const FitOptions& fit = comparison.options.run.fit;
  return JsonObject{{"task", comparison.run->options.task},
                    {"metric", comparison.run->metric()},
                    {"seeds", comparison.options.seeds},
                    {"steps", fit.steps},
                    {"batch", fit.batch},
                    {"curriculum", fit.curriculum},
                    {"threshold", comparison.threshold},
                    {"models", models}}
      .text();
}

}  // namespace retrace
