#include <retrace/models/formats/json_text.h>
#include <retrace/models/reports/comparison/comparison.h>

namespace retrace {

std::string to_json(const Comparison& comparison) {
  std::vector<JsonObject> models;
  for (const Contestant& contestant : comparison.contestants) {
    std::vector<JsonObject> tried;
    for (const auto& [rate, loss] : contestant.tried)
      tried.push_back({{"learning_rate", rate}, {"validation_loss", loss}});
    models.push_back({{"model", contestant.name},
                      {"hidden", contestant.hidden},
                      {"parameters", contestant.parameters},
                      {"flops_a_sample", contestant.flops_a_sample},
                      {"learning_rate", contestant.learning_rate},
                      {"tried", tried},
                      {"values", contestant.values},
                      {"value", contestant.value.mean},
                      {"half_width", contestant.value.half_width},
                      {"difference", contestant.against_first.mean},
                      {"difference_half_width", contestant.against_first.half_width},
                      {"seconds", contestant.seconds},
                      {"seconds_to_threshold", contestant.seconds_to_threshold},
                      {"samples_to_threshold", contestant.samples_to_threshold}});
  }
  const FitOptions& fit = comparison.options.run.fit;
  return JsonObject{{"task", comparison.task->name()},
                    {"metric", metric_name(comparison.task->kind())},
                    {"seeds", comparison.options.seeds},
                    {"steps", fit.steps},
                    {"batch", fit.batch},
                    {"curriculum", fit.curriculum},
                    {"threshold", comparison.threshold},
                    {"models", models}}
      .text();
}

}  // namespace retrace
