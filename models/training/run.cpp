#include <retrace/models/networks/model_options.h>
#include <retrace/models/tasks/text/streams.h>
#include <retrace/models/training/flops.h>
#include <retrace/models/training/run.h>

#include <algorithm>

namespace retrace {
namespace {

/// The recipe's sizes, with the model's own slots and heads; those that it does not let one choose stay open.
SizeOptions recipe_sizes(const ModelSpec& model, const Task& task, const Recipe& recipe) {
  SizeOptions own;
  if (const std::optional<ModelChoices> choices = choices_of(model.name))
    own = {.slots = choices->slots, .heads = choices->heads};
  ModelSpec filled = model;
  filled.sizes = own.or_else(sizes_for(task, recipe));
  if (recipe.slot_of_hidden) {
    const SizeOptions sizes = model.sizes.or_else(filled.sizes);
    const std::int64_t heads = std::max(*sizes.heads, 1);
    filled.sizes.slot_size = std::max<std::int64_t>(*sizes.hidden / heads, 1) * heads;
  }
  return without_missing_options(filled).sizes;
}

RunOptions with_recipe(RunOptions options, const Task& task) {
  const Recipe recipe = recipe_for(options.task, options.model.name);
  options.model.sizes = options.model.sizes.or_else(recipe_sizes(options.model, task, recipe));
  if (recipe.causal && !options.model.form.causal && options.from.empty() && has_option(options.model, "causal"))
    options.model.form.causal = true;
  options.fit = with_recipe(options.fit, recipe);
  return options;
}

std::string listed(const auto& names, std::string_view separator) {
  std::string list;
  for (const std::string_view name : names) list += text(list.empty() ? "" : separator, name);
  return list;
}

void check_gate(const ModelSpec& model, const MemoryChoices& memory) {
  if (std::ranges::find(memory.gates, model.parts.gate) != memory.gates.end()) return;
  std::vector<std::string_view> gates;
  for (const MemoryGate gate : memory.gates) gates.push_back(name_of(gate));
  throw ValueError(text("prepare: the memory of a ", model.name, " has no gate '", name_of(model.parts.gate),
                        "'; give ", listed(gates, " or ")));
}

/// Refuses models that see rows after the one that they answer.
void check_direction(const ModelSpec& model, const std::string& name, const Task& task) {
  const bool is_text = task.text_data() != nullptr;
  if (is_text && !model.form.causal.value_or(true))
    throw ValueError(
        "prepare: attention that is not causal would see the tokens that it has to predict; leave --no-causal out");
  if (is_text && model.form.bidirectional)
    throw ValueError(
        "prepare: a bidirectional model would see the tokens that it has to predict; leave bidirectional out");
  if (!model.form.bidirectional || task.answer_length() == 1) return;
  throw ValueError(text("prepare: a bidirectional model has read every row before it answers, but ", name,
                        " has an answer after each of the last ", task.answer_length(),
                        " rows; leave bidirectional out, or choose a task with one answer"));
}

/// Throws ValueError for an option in `given` that the model does not have, and for heads in `filled` that do not
/// divide its slots.
void check_choices(const ModelSpec& given, const ModelSpec& filled) {
  check_model_options("prepare", given);
  if (!choices_of(given.name)) return;  // it may ignore options, or make_model will refuse it
  const MemoryChoices memory = memory_choices(given);
  if (given.parts.gate != MemoryGate::unit) check_gate(given, memory);
  const ModelSizes sizes = sizes_of(filled);
  if (memory.has("slots") && memory.heads_divide_slots && sizes.slot_size % sizes.heads != 0)
    throw ValueError(text("prepare: ", sizes.heads, " heads do not divide slots of ", sizes.slot_size,
                          " features; choose heads that do"));
}

/// The model of a stored run and, on the same task, its options; those that are given come first.
RunOptions from_stored(RunOptions options, const StoredRun& stored) {
  const std::optional<double> dropout = options.model.form.dropout;
  options.model = stored.spec;
  if (dropout) options.model.form.dropout = dropout;
  if (options.task != stored.task_name) return options;
  TaskOptions earlier = stored.task_options;
  if (options.task_options.text) earlier.validation_text.reset(), earlier.test_text.reset();  // of another text
  options.task_options = options.task_options.or_else(earlier);
  return options;
}

/// Throws ValueError if inputs or answers of a file have other names than those that the stored model learned.
void check_names(const StoredRun& stored, const Task& task) {
  const SampleFormat *before = stored.task->format(), *now = task.format();
  if (before == nullptr || now == nullptr) return;
  const auto check = [&](const char* what, const std::vector<std::string>& learned,
                         const std::vector<std::string>& found) {
    if (learned != found)
      throw ValueError(text("prepare: ", stored.path, " was trained on the ", what, " ", listed(learned, ", "),
                            ", and the data has ", listed(found, ", "),
                            "; give data with the same, in the same order"));
  };
  check("columns", before->columns, now->columns);
  check("classes", before->words, now->words);
  check("targets", before->targets, now->targets);
}

/// Gives the run the weights of a stored one.
void begin_with(const Run& run, const StoredRun& stored) {
  check_names(stored, *run.task);
  try {
    assign(*run.model, parameters(*stored.model));
  } catch (const ValueError& error) {
    throw ValueError(text("prepare: the model of ", stored.path, ", trained on ", stored.task_name,
                          ", does not fit the sizes of this ", run.options.task,
                          "; choose a task with the same sizes of input, output and, for learned positions, length (",
                          error.what(), ")"));
  }
}

}  // namespace

std::string Run::test_in_words() const {
  if (const TextData* data = task->text_data())
    return text(data->test().size(), " ", name_of(data->vocabulary.kind()), " of the text");
  if (const std::optional<HeldOut> held_out = task->held_out())
    return text(held_out->test.size(), " samples that were held out");
  return text(options.fit.test_samples, " fresh samples of the full task");
}

std::int64_t Run::validation_samples() const {
  const std::optional<HeldOut> held_out = task->held_out();
  return held_out ? held_out->validation.size() : options.fit.validation_samples;
}

std::int64_t Run::flops_a_sample() const {
  const DtypeScope scope(options.dtype);
  Random random(options.fit.seed);
  const Batch batch = task->sample(random, 1);
  const Tape tape;
  answer(*model, *task, batch.x);
  return 3 * forward_flops(tape);
}

Run prepare(const RunOptions& given) {
  const DtypeScope scope(given.dtype);
  RunOptions options = given;
  std::optional<StoredRun> stored;
  if (!given.from.empty()) {
    stored = load_run(given.from, TaskSamples::none);
    options = from_stored(given, *stored);
  }
  const bool same_task = stored && options.task == stored->task_name;
  std::unique_ptr<Task> task =
      same_task ? make_task_again(*stored, options.task_options) : make_task(options.task, options.task_options);
  Run run{.options = with_recipe(options, *task), .task = std::move(task), .model = {}};
  if (stored)
    check_model_options("prepare", {.name = options.model.name, .form = options.model.form});  // sizes are stored
  else
    check_choices(options.model, run.options.model);
  check_direction(options.model, options.task, *run.task);
  if (const TextData* data = run.task->text_data())
    check_length(*data, *run.options.fit.batch, run.task->sequence_length());
  Random weights = stored || !options.draws ? Random::none() : Random(run.options.fit.seed).stream("weights");
  run.model = make_model_for(*run.task, filled_spec(run.options, *run.task), weights);
  if (stored) {
    begin_with(run, *stored);
    run.options.fit.initial_weights = weights_hash(*run.model);
  }
  return run;
}

}  // namespace retrace
