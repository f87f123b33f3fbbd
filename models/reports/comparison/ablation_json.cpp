#include <retrace/models/formats/json_text.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/reports/comparison/ablation.h>

namespace retrace {

std::string to_json(const Ablation& ablation) {
  const Comparison& comparison = ablation.comparison;
  const RunOptions& baseline = ablation.variations.kept.front().run;
  std::vector<JsonObject> variations;
  for (std::size_t k = 0; k < comparison.results.size(); ++k) {
    const ModelResult& result = comparison.results[k];
    variations.push_back({{"factor", ablation.variations.kept[k].factor},
                          {"setting", ablation.variations.kept[k].setting},
                          {"parameters", result.parameters},
                          {"flops_a_sample", result.flops_a_sample},
                          {"values", result.values},
                          {"value", result.value.mean},
                          {"deviation", result.value.deviation},
                          {"half_width", result.value.half_width},
                          {"difference", result.against_first.mean},
                          {"difference_half_width", result.against_first.half_width},
                          {"failures", result.failures},
                          {"seconds", result.seconds}});
  }
  JsonObject object{{"task", comparison.run->options.task},
                    {"model", baseline.model.name},
                    {"memory", memory_name(baseline.model)},
                    {"metric", comparison.run->metric()},
                    {"seeds", comparison.options.seeds},
                    {"steps", comparison.options.run.fit.steps},
                    {"batch", comparison.options.run.fit.batch},
                    {"learning_rate", comparison.options.run.fit.learning_rate},
                    {"curriculum", comparison.options.run.fit.curriculum},
                    {"variations", variations},
                    {"left_out", ablation.variations.left_out}};
  object.add(to_json(baseline.model.form));
  return object.text();
}

}  // namespace retrace
