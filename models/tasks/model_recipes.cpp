// The models that learn a task by other settings than the task's recipe.
#include <retrace/models/tasks/recipes.h>

#include <algorithm>
#include <array>
#include <vector>

namespace retrace {
namespace {

// clang-format off
constexpr std::array library_recipes{
    ModelRecipe{.task = "pair-matching", .model = "rmc", .sizes = {.slot_size = 64, .slots = 4},
                .learning_rate = 2e-3, .steps = 12000, .schedule = "trapezoid"},
    ModelRecipe{.task = "pair-matching", .model = "attention",
                .learning_rate = 1e-3, .steps = 6000, .schedule = "trapezoid"},
    ModelRecipe{.task = "recall", .model = "rmc", .learning_rate = 2e-3, .steps = 6000, .schedule = "trapezoid"},
    ModelRecipe{.task = "recall", .model = "lstm", .steps = 16000, .schedule = "trapezoid"},
    ModelRecipe{.task = "recall", .model = "gru", .steps = 16000, .schedule = "trapezoid"},
    ModelRecipe{.task = "babi", .model = "rmc", .learning_rate = 2e-3, .steps = 16000, .schedule = "trapezoid"},
    ModelRecipe{.task = "babi", .model = "attention", .learning_rate = 1e-3, .steps = 20000, .schedule = "trapezoid"},
    ModelRecipe{.task = "double", .model = "rmc",
                .learning_rate = 4e-3, .steps = 24000, .schedule = "trapezoid", .optimizer = "muon"},
    ModelRecipe{.task = "double", .model = "gru",
                .learning_rate = 3e-3, .steps = 24000, .schedule = "trapezoid", .optimizer = "muon"},
    ModelRecipe{.task = "graph-reachability", .model = "rmc",
                .learning_rate = 1e-3, .steps = 45000, .schedule = "trapezoid"},
    ModelRecipe{.task = "graph-reachability", .model = "attention", .learning_rate = 1e-3, .schedule = "trapezoid"},
    ModelRecipe{.task = "adding", .model = "rmc", .learning_rate = 2e-3, .steps = 5000, .schedule = "trapezoid"},
    ModelRecipe{.task = "parity", .model = "attention", .sizes = {.hidden = 64},
                .learning_rate = 5e-3, .steps = 6000, .optimizer = "muon", .causal = true},
    ModelRecipe{.task = "parity", .model = "transformer", .sizes = {.hidden = 64},
                .learning_rate = 5e-3, .steps = 6000, .optimizer = "muon", .causal = true},
    ModelRecipe{.task = "execute", .model = "gru", .sizes = {.hidden = 256},
                .learning_rate = 3e-3, .steps = 12000, .optimizer = "muon"},
    ModelRecipe{.task = "text", .model = "rmc", .sizes = {.slots = 1, .heads = 4}, .slot_of_hidden = true},
};
// clang-format on

std::vector<ModelRecipe>& recipes() {
  static std::vector<ModelRecipe> all(library_recipes.begin(), library_recipes.end());
  return all;
}

const ModelRecipe* row_of(std::string_view task, std::string_view model) {
  const auto row = std::ranges::find_if(
      recipes(), [&](const ModelRecipe& entry) { return entry.task == task && entry.model == model; });
  return row == recipes().end() ? nullptr : &*row;
}

}  // namespace

std::span<const ModelRecipe> model_recipes() { return recipes(); }

void register_recipe(const ModelRecipe& recipe) { recipes().push_back(recipe); }

Recipe recipe_for(std::string_view task, std::string_view model) {
  Recipe recipe = recipe_for(task);
  const ModelRecipe* row = row_of(task, model);
  if (row == nullptr && task != data_task && task != text_task) row = row_of(every_other_task, model);
  if (row == nullptr) return recipe;
  recipe.sizes = row->sizes.or_else(recipe.sizes);
  recipe.learning_rate = row->learning_rate.value_or(recipe.learning_rate);
  recipe.steps = row->steps.value_or(recipe.steps);
  if (!row->schedule.empty()) recipe.schedule = row->schedule;
  if (!row->optimizer.empty()) recipe.optimizer = row->optimizer;
  recipe.causal = recipe.causal || row->causal;
  recipe.slot_of_hidden = row->slot_of_hidden;
  return recipe;
}

}  // namespace retrace
