#include <retrace/models/training/result_json.h>

namespace retrace {

JsonObject result_to_json(const FitOptions& options, const FitResult& result, std::string_view metric,
                          const Baselines& baselines) {
  return {{"seed", options.seed},
          {"batch", options.batch},
          {"learning_rate", options.learning_rate},
          {"steps", result.steps},
          {"best_step", result.best_step},
          {"stopped_by", name_of(result.stopped_by)},
          {"diverged", result.diverged()},
          {"reference_loss", result.reference_loss},
          {"seconds", result.seconds},
          {"metric", metric},
          {"value", result.test.metric},
          {"test_loss", result.test.loss},
          {"chance", baselines.chance},
          {"trivial", baselines.trivial},
          {"ceiling", baselines.ceiling}};
}

}  // namespace retrace
