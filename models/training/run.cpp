#include <retrace/models/training/run.h>

namespace retrace {
namespace {

RunOptions with_recipe(RunOptions options, const Recipe& recipe) {
  const auto fill = [](auto& value, auto recommended) {
    if (value == 0) value = recommended;
  };
  fill(options.hidden, recipe.hidden);
  fill(options.slot_size, recipe.slot_size);
  fill(options.fit.steps, recipe.steps);
  fill(options.fit.batch, recipe.batch);
  fill(options.fit.learning_rate, recipe.learning_rate);
  if (options.fit.schedule.empty()) options.fit.schedule = recipe.schedule;
  return options;
}

}  // namespace

Run prepare(const RunOptions& options) {
  const DtypeScope scope(options.dtype);
  Run run{.options = options, .task = make_task(options.task, options.task_options), .model = nullptr, .fit = {}};
  const Recipe& recipe = recipe_for(options.task);
  run.options = with_recipe(options, recipe);
  ModelSizes sizes = sizes_for(*run.task, recipe);
  sizes.hidden = run.options.hidden;
  sizes.slot_size = run.options.slot_size;
  sizes.memory = run.options.memory;
  Random weights = Random(options.fit.seed).stream("weights");
  run.model = make_model(options.model, sizes, weights);
  return run;
}

void train(Run& run) { run.fit = fit(*run.model, *run.task, run.options.fit); }

}  // namespace retrace
