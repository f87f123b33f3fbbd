#include <retrace/models/networks/model_options.h>
#include <retrace/models/training/result_json.h>
#include <retrace/models/training/run.h>

namespace retrace {
namespace {

JsonObject shortcuts_to_json(const Baselines& baselines) {
  JsonObject result;
  for (const Baselines::Shortcut& shortcut : baselines.shortcuts) result.add(shortcut.answer, shortcut.value);
  return result;
}

}  // namespace

std::string TaskRun::json() const {
  const Baselines baselines = task->baselines();
  JsonObject object{{"task", options.task},
                    {"model", options.model.name},
                    {"memory", memory_name(options.model)},
                    {"dtype", name_of(options.dtype)},
                    {"hidden", options.model.sizes.hidden}};
  object.add(to_json(options.model.form));
  if (!options.from.empty()) object.add("from", options.from);
  object.add(result_to_json(options.fit, fit, metric(), baselines));
  object.add("curriculum", options.fit.curriculum);
  object.add("original", baselines.original);
  object.add("shortcuts", shortcuts_to_json(baselines));
  object.add("parameters", count_parameters(*model));
  object.add("weights_hash", weights_hash(*model));
  return object.text();
}

}  // namespace retrace
