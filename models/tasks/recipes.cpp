#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/tasks/recipes.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

namespace retrace {
namespace {

constexpr std::array recipes{
    Recipe{.task = "object-tracking", .hidden = 64, .slot_size = 32, .batch = 64, .learning_rate = 1e-2, .steps = 3000},
    Recipe{.task = "pair-matching", .hidden = 128, .slot_size = 32, .batch = 128, .learning_rate = 1e-2, .steps = 3000},
    Recipe{.task = "babi", .hidden = 64, .slot_size = 32, .batch = 64, .learning_rate = 1e-2, .steps = 6000},
    Recipe{.task = "graph-reachability",
           .hidden = 128,
           .slot_size = 32,
           .batch = 64,
           .learning_rate = 5e-3,
           .steps = 16000},
    Recipe{.task = "copy", .hidden = 128, .slot_size = 32, .batch = 32, .learning_rate = 1e-2, .steps = 8000},
    Recipe{.task = "reverse", .hidden = 128, .slot_size = 32, .batch = 32, .learning_rate = 1e-2, .steps = 8000},
    Recipe{.task = "double", .hidden = 128, .slot_size = 32, .batch = 32, .learning_rate = 1e-2, .steps = 8000},
    Recipe{.task = "recall", .hidden = 64, .slot_size = 32, .batch = 64, .learning_rate = 1e-2, .steps = 8000},
    Recipe{.task = "parity", .hidden = 32, .slot_size = 16, .batch = 32, .learning_rate = 1e-2, .steps = 2000},
    Recipe{.task = "adding", .hidden = 64, .slot_size = 16, .batch = 32, .learning_rate = 5e-3, .steps = 2500},
    Recipe{.task = "nth-farthest",
           .hidden = 128,
           .slot_size = 64,
           .batch = 64,
           .learning_rate = 1.5e-3,
           .steps = 70000,
           .slots = 0,
           .heads = 4,
           .schedule = "trapezoid"},
    Recipe{.task = "execute",
           .hidden = 128,
           .slot_size = 32,
           .batch = 64,
           .learning_rate = 1e-2,
           .steps = 60000,
           .schedule = "trapezoid"},
};

std::deque<Recipe>& registered_recipes() {
  static std::deque<Recipe> registered;
  return registered;
}

const Recipe* find_recipe(const auto& among, std::string_view task) {
  const auto found = std::ranges::find(among, task, &Recipe::task);
  return found == among.end() ? nullptr : &*found;
}

void check(std::string_view task, const Recipe& recipe) {
  const auto positive = [task](auto value, const char* name) {
    if (!(value > 0))
      throw ValueError(text("register_task: ", name, " of '", task, "' is ", value, "; it has to be above 0"));
  };
  positive(recipe.hidden, "hidden");
  positive(recipe.slot_size, "slot_size");
  positive(recipe.batch, "batch");
  positive(recipe.learning_rate, "learning_rate");
  positive(recipe.steps, "steps");
}

}  // namespace

void register_task(std::string_view name, TaskFactory factory, const Recipe& recipe) {
  check(name, recipe);
  register_task(name, std::move(factory));
  registered_recipes().push_back(recipe);
  registered_recipes().back().task = task_names().back();  // this name stays
}

void register_task(std::string_view name, const Tensor& x, const Tensor& y, const Recipe& recipe,
                   const DatasetOptions& options) {
  const auto make = [name = std::string(name), x, y, options] {
    return std::make_unique<Dataset>(name, x, y, options);
  };
  make();  // what is wrong with the data is found now
  register_task(name, make, recipe);
}

const Recipe& recipe_for(std::string_view task) {
  static constexpr Recipe general;
  if (const Recipe* found = find_recipe(recipes, task)) return *found;
  if (const Recipe* found = find_recipe(registered_recipes(), task)) return *found;
  if (std::ranges::find(task_names(), task) == task_names().end())
    throw ValueError(unknown_name("recipe_for", "task", task, task_names()));
  return general;
}

ModelSizes sizes_for(const Task& task, const Recipe& recipe) {
  return {.input = task.input_size(),
          .hidden = recipe.hidden,
          .output = task.output_size(),
          .slot_size = recipe.slot_size,
          .slots = recipe.slots == 0 ? task.sequence_length() : recipe.slots,
          .heads = recipe.heads,
          .time = task.sequence_length()};
}

}  // namespace retrace
