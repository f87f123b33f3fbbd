#include <retrace/models/networks/model_options.h>
#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/run.h>

namespace retrace {
namespace {

JsonObject shortcuts_to_json(const Baselines& baselines) {
  JsonObject result;
  for (const Baselines::Shortcut& shortcut : baselines.shortcuts) result.add(shortcut.answer, shortcut.value);
  return result;
}

}  // namespace

std::string Run::json() const {
  const Baselines baselines = task->baselines();
  TaskOptions filled = options.task_options;
  const TextData* data = task->text_data();
  if (data != nullptr) filled.tokens = data->vocabulary.kind(), filled.length = task->sequence_length();
  JsonObject object{{"task", options.task},
                    {"model", options.model.name},
                    {"memory", memory_name(options.model)},
                    {"dtype", name_of(options.dtype)},
                    {"hidden", options.model.sizes.hidden},
                    {"slots", options.model.sizes.slots},
                    {"heads", options.model.sizes.heads}};
  object.add(to_json(options.model.form));
  object.add(to_json(filled));
  if (data != nullptr) object.add("vocabulary", data->vocabulary.size());
  if (!options.from.empty()) object.add("from", options.from);
  object.add({{"seed", options.fit.seed},
              {"batch", options.fit.batch},
              {"learning_rate", options.fit.learning_rate},
              {"steps", fit.steps},
              {"best_step", fit.best_step},
              {"stopped_by", name_of(fit.stopped_by)},
              {"diverged", fit.diverged()},
              {"reference_loss", fit.reference_loss},
              {"seconds", fit.seconds},
              {"metric", name_of(task->metric())},
              {"value", fit.test.metric},
              {"test_loss", fit.test.loss},
              {"chance", baselines.chance},
              {"trivial", baselines.trivial},
              {"ceiling", baselines.ceiling},
              {"curriculum", options.fit.curriculum},
              {"original", baselines.original},
              {"shortcuts", shortcuts_to_json(baselines)},
              {"parameters", count_parameters(*model)},
              {"weights_hash", weights_hash(*model)}});
  return object.text();
}

}  // namespace retrace
