#include <retrace/models/training/run.h>

namespace retrace {

namespace {

Recipe chosen_recipe(const RunOptions& options) {
  Recipe recipe = recipe_for(options.task);
  if (options.steps != 0) recipe.steps = options.steps;
  if (options.batch != 0) recipe.batch = options.batch;
  if (options.hidden != 0) recipe.hidden = options.hidden;
  if (options.learning_rate != 0) recipe.learning_rate = options.learning_rate;
  return recipe;
}

}  // namespace

Run prepare(const RunOptions& options) {
  const DtypeScope scope(options.dtype);
  std::unique_ptr<Task> task = make_task(options.task);
  Run run{.options = options, .recipe = chosen_recipe(options), .task = std::move(task), .model = nullptr, .fit = {}};
  Random weights = Random(options.seed).stream("weights");
  ModelSizes sizes = sizes_for(*run.task, run.recipe);
  sizes.memory = options.memory;
  run.model = make_model(options.model, sizes, weights);
  return run;
}

void train(Run& run, std::ostream* metrics, const ProgressOptions& progress) {
  run.fit = fit(*run.model, *run.task,
                {.seed = run.options.seed,
                 .steps = run.recipe.steps,
                 .batch = run.recipe.batch,
                 .learning_rate = run.recipe.learning_rate,
                 .metrics = metrics,
                 .progress = progress});
}

}  // namespace retrace
