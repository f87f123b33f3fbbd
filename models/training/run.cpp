#include <retrace/models/networks/slot_memory.h>
#include <retrace/models/training/run.h>

#include <algorithm>

namespace retrace {
namespace {

RunOptions with_recipe(RunOptions options, const Recipe& recipe, const ModelSizes& sizes) {
  const auto fill = [](auto& value, auto recommended) {
    if (value == 0) value = recommended;
  };
  fill(options.hidden, recipe.hidden);
  fill(options.slot_size, recipe.slot_size);
  if (!memory_choices(options.model, options.memory).empty()) {
    fill(options.slots, sizes.slots);
    fill(options.heads, options.model == "relational-rnn" ? SlotMemoryOptions{}.heads : recipe.heads);
  }
  fill(options.fit.steps, options.fit.minutes > 0 ? no_limit : recipe.steps);
  fill(options.fit.batch, recipe.batch);
  fill(options.fit.learning_rate, recipe.learning_rate);
  if (options.fit.schedule.empty()) options.fit.schedule = recipe.schedule;
  return options;
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// What `given` chooses, the model has to have.
void check_memory(const RunOptions& given, const RunOptions& filled) {
  if (!contains(model_names(), given.model)) return;            // make_model will say so
  if (contains(registered_model_names(), given.model)) return;  // it does with its sizes what it likes
  const auto choices = memory_choices(given.model, given.memory);
  std::string known;
  for (const std::string_view name : choices) known += text(known.empty() ? "" : ", ", name);
  const auto check = [&](std::string_view name, bool chosen) {
    if (chosen && !contains(choices, name))
      throw ValueError(text("prepare: the model '", given.model, "'",
                            given.model == "relational-rnn" ? text(" with the memory '", given.memory, "'") : "",
                            " has no option '", name, "' (it has: ", known.empty() ? "none" : known,
                            "); leave it out"));
  };
  check("heads", given.heads != 0);
  check("slots", given.slots != 0);
  check("gate", given.parts.gate != MemoryGate::unit);
  check("residual", !given.parts.residual);
  check("layer-norm", !given.parts.layer_norm);
  check("attention-mlp", !given.parts.attention_mlp);
  if (given.model == "relational-rnn" && given.parts.gate == MemoryGate::memory)
    throw ValueError("prepare: the memory of a relational-rnn has no gate 'memory'; give unit or none");
  if (!choices.empty() && filled.slot_size % filled.heads != 0)
    throw ValueError(text("prepare: ", filled.heads, " heads do not divide slots of ", filled.slot_size,
                          " features; choose heads that do"));
}

}  // namespace

ModelSizes sizes_of(const RunOptions& options, const Task& task) {
  ModelSizes sizes = sizes_for(task, recipe_for(options.task));
  sizes.hidden = options.hidden;
  sizes.slot_size = options.slot_size;
  if (options.slots != 0) sizes.slots = options.slots;
  if (options.heads != 0) sizes.heads = options.heads;
  sizes.memory = options.memory;
  sizes.parts = options.parts;
  return sizes;
}

Run prepare(const RunOptions& options) {
  const DtypeScope scope(options.dtype);
  Run run{.options = options, .task = make_task(options.task, options.task_options), .model = nullptr, .fit = {}};
  const Recipe& recipe = recipe_for(options.task);
  run.options = with_recipe(options, recipe, sizes_for(*run.task, recipe));
  check_memory(options, run.options);
  Random weights = Random(options.fit.seed).stream("weights");
  run.model = make_model(options.model, sizes_of(run.options, *run.task), weights);
  return run;
}

void train(Run& run) { run.fit = fit(*run.model, *run.task, run.options.fit); }

}  // namespace retrace
