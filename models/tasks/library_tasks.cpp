// The tasks by name, each with its recipe.
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/registry.h>
#include <retrace/models/tasks/adding.h>
#include <retrace/models/tasks/babi.h>
#include <retrace/models/tasks/data_file.h>
#include <retrace/models/tasks/execute.h>
#include <retrace/models/tasks/graph_reachability.h>
#include <retrace/models/tasks/nth_farthest.h>
#include <retrace/models/tasks/object_tracking.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/models/tasks/text/text_task.h>
#include <retrace/nn/optim/number_range.h>

#include <algorithm>
#include <array>
#include <utility>

namespace retrace {
namespace {

struct Entry {
  std::string options;  // of TaskOptions, that it has
  TaskMaker make;
  Recipe recipe;
};

template <class T> Entry task(const Recipe& recipe) { return {std::string(T::option_names), T::make, recipe}; }

/// One of the tasks on symbols of one length.
std::pair<std::string_view, Entry> symbols(std::string_view name, const Recipe& recipe) {
  const SequenceRules& rules = sequence_rules(name);
  const auto make = [&rules](const TaskOptions& given) { return std::make_unique<SequenceTask>(rules, given); };
  return {name, {std::string(rules.option_names), make, recipe}};
}

/// The library's tasks, but for those of the zoo: a new one is a row here.
Registry<Entry>& tasks() {
  // clang-format off
  static Registry<Entry> all("register_task", "make_task", "task", {
    {"object-tracking", task<ObjectTracking>(
      {.sizes = {.hidden = 64, .slot_size = 32}, .batch = 64, .learning_rate = 1e-2, .steps = 3000})},
    symbols("pair-matching",
      {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 128, .learning_rate = 1e-2, .steps = 3000}),
    {"babi", task<Babi>(
      {.sizes = {.hidden = 64, .slot_size = 32}, .batch = 64, .learning_rate = 1e-2, .steps = 6000})},
    {"graph-reachability", task<GraphReachability>(
      {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 64, .learning_rate = 5e-3, .steps = 16000})},
    symbols("copy",
      {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 32, .learning_rate = 1e-2, .steps = 8000}),
    symbols("reverse",
      {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 32, .learning_rate = 1e-2, .steps = 8000}),
    symbols("double",
      {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 32, .learning_rate = 1e-2, .steps = 8000}),
    symbols("recall",
      {.sizes = {.hidden = 64, .slot_size = 32}, .batch = 64, .learning_rate = 1e-2, .steps = 8000}),
    symbols("dynamic-recall",
      {.sizes = {.hidden = 64, .slot_size = 32}, .batch = 64, .learning_rate = 1e-2, .steps = 8000}),
    symbols("multi-query-recall",
      {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 64, .learning_rate = 3e-3, .steps = 8000}),
    symbols("sorting",
      {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 64, .learning_rate = 5e-3, .steps = 8000}),
    symbols("parity",
      {.sizes = {.hidden = 32, .slot_size = 16}, .batch = 32, .learning_rate = 1e-2, .steps = 2000}),
    {"adding", task<Adding>(
      {.sizes = {.hidden = 64, .slot_size = 16}, .batch = 32, .learning_rate = 5e-3, .steps = 2500})},
    {"nth-farthest", task<NthFarthest>(
      {.sizes = {.hidden = 128, .slot_size = 64, .heads = 4}, .slot_per_row = true, .batch = 64,
       .optimizer = "muon", .learning_rate = 1.5e-3, .steps = 68000, .schedule = "trapezoid", .b2 = 0.999})},
    {"execute", task<Execute>(
      {.sizes = {.hidden = 128, .slot_size = 32}, .batch = 64, .learning_rate = 1e-2,
       .steps = 60000, .schedule = "trapezoid"})}});
  // clang-format on
  return all;
}

bool is_registered(std::string_view name) { return std::ranges::find(task_names(), name) != task_names().end(); }

/// The tasks of a user's file: they have no samples without one, and are not among task_names().
const Entry* entry_of_files(std::string_view name) {
  static const Entry data = task<DataFile>({.batch = 32, .learning_rate = 3e-3, .steps = 1000});
  static const Entry words = task<TextTask>({.sizes = {.hidden = 128, .slot_size = 64, .slots = 4, .heads = 2},
                                             .batch = 32,
                                             .learning_rate = 5e-3,
                                             .steps = 2000,
                                             .causal = true});
  return name == data_task ? &data : name == text_task ? &words : nullptr;
}

const Entry& entry_of(std::string_view name) {
  if (is_registered(name)) return tasks().find(name);
  if (const Entry* of_files = entry_of_files(name)) return *of_files;
  const std::vector<std::string_view> known = all_task_names();
  throw ValueError(unknown_name("make_task", "task", name, known, {}, listed_tasks(known)));
}

/// Whether "held-only, facts" has the option.
bool has_name(std::string_view names, std::string_view option) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find_first_of(", "), names.size());
    if (names.substr(0, end) == option) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

void check_recipe(std::string_view task, const Recipe& recipe) {
  const auto check = [task](auto value, const char* name, const NumberRange& range = above_0) {
    check_number("register_task", text(name, " of '", task, "'").c_str(), value, range);
  };
  check(recipe.sizes.hidden.value_or(1), "hidden");
  check(recipe.sizes.slot_size.value_or(1), "slot_size");
  check(recipe.sizes.slots.value_or(1), "slots");
  check(recipe.sizes.heads.value_or(1), "heads");
  check(recipe.batch, "batch");
  check(recipe.learning_rate, "learning_rate");
  check(recipe.steps, "steps");
  check(recipe.b2, "b2", from_0_to_below_1);
}

}  // namespace

void register_task(std::string_view name, TaskFactory factory, const Recipe& recipe) {
  TaskMaker make;
  if (factory) make = [factory = std::move(factory)](const TaskOptions&) { return factory(); };
  register_task(name, "", std::move(make), recipe);
}

void register_task(std::string_view name, std::string_view option_names, TaskMaker make, const Recipe& recipe,
                   std::string_view collection) {
  check_recipe(name, recipe);
  if (!make) throw ValueError(text("register_task: the factory of '", name, "' is empty; give a function"));
  tasks().add(name, {std::string(option_names), std::move(make), recipe}, collection);
}

void register_task(std::string_view name, const Tensor& x, const Tensor& y, const Recipe& recipe,
                   const DatasetOptions& options) {
  const auto make = [name = std::string(name), x, y, options] {
    return std::make_unique<Dataset>(name, x, y, options);
  };
  make();  // finds errors in the data now
  register_task(name, make, recipe);
}

void register_task(std::string_view name, const PaddedBatch& x, const Tensor& y, const Recipe& recipe,
                   DatasetOptions options) {
  options.lengths = x.lengths;
  register_task(name, x.values, y, recipe, options);
}

std::span<const std::string_view> task_names() { return tasks().names().all(); }

std::vector<std::string_view> all_task_names() {
  std::vector<std::string_view> names(task_names().begin(), task_names().end());
  for (const std::string_view name : {data_task, text_task})
    if (!is_registered(name)) names.push_back(name);
  return names;
}

std::vector<std::string_view> tasks_in(std::string_view collection) { return tasks().names().in(collection); }

std::string listed_tasks(std::span<const std::string_view> names) { return tasks().names().listed(names); }

std::unique_ptr<Task> make_task(std::string_view name, const TaskOptions& options) {
  const Entry& entry = entry_of(name);
  check_task_options(name, options);
  std::unique_ptr<Task> task = entry.make(options);
  if (task == nullptr) throw ValueError(text("make_task: the factory of '", name, "' made no task; return one"));
  return task;
}

bool has_option(std::string_view task, std::string_view option) { return has_name(entry_of(task).options, option); }

void check_task_options(std::string_view task, const TaskOptions& given) {
  const std::string& has = entry_of(task).options;
  for (const auto& [row, value] : given_options(task_option_rows(), given))
    if (!has_name(has, row.name))
      throw ValueError(text("make_task: the task '", task, "' has no option '", row.name,
                            "' (it has: ", has.empty() ? "none" : has, "); leave it out"));
}

const Recipe& recipe_for(std::string_view task) { return entry_of(task).recipe; }

SizeOptions sizes_for(const Task& task, const Recipe& recipe) {
  SizeOptions sizes = recipe.sizes;
  if (recipe.slot_per_row) sizes.slots = task.sequence_length();
  return sizes.or_else({.hidden = 64, .slot_size = 32, .slots = 4, .heads = 2});
}

}  // namespace retrace
