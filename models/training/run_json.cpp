#include <retrace/models/training/result_json.h>
#include <retrace/models/training/run.h>

namespace retrace {
namespace {

JsonObject shortcuts_to_json(const Yardsticks& yardsticks) {
  JsonObject result;
  for (const Yardsticks::Shortcut& shortcut : yardsticks.shortcuts) result.add(shortcut.answer, shortcut.value);
  return result;
}

}  // namespace

std::string TaskRun::json() const {
  const Yardsticks yardsticks = task->yardsticks();
  JsonObject object{{"task", options.task},
                    {"model", options.model.name},
                    {"memory", memory_name(options.model)},
                    {"dtype", name_of(options.dtype)},
                    {"hidden", options.model.sizes.hidden}};
  object.add(result_to_json(options.fit, fit, metric(), yardsticks));
  object.add("curriculum", options.fit.curriculum);
  object.add("original", yardsticks.original);
  object.add("shortcuts", shortcuts_to_json(yardsticks));
  object.add("parameters", count_parameters(*model));
  object.add("weights_hash", weights_hash(*model));
  return object.text();
}

}  // namespace retrace
