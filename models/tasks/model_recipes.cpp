// The models that learn a task by other settings than the task's recipe.
#include <retrace/models/tasks/recipes.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

// clang-format off
constexpr std::array rows{
    ModelRecipe{.task = "pair-matching", .model = "rmc", .sizes = {.slot_size = 64, .slots = 4},
                .learning_rate = 2e-3, .steps = 8000, .schedule = "trapezoid"},
};
// clang-format on

}  // namespace

std::span<const ModelRecipe> model_recipes() { return rows; }

Recipe recipe_for(std::string_view task, std::string_view model) {
  Recipe recipe = recipe_for(task);
  const auto row =
      std::ranges::find_if(rows, [&](const ModelRecipe& entry) { return entry.task == task && entry.model == model; });
  if (row == rows.end()) return recipe;
  recipe.sizes = row->sizes.or_else(recipe.sizes);
  recipe.learning_rate = row->learning_rate.value_or(recipe.learning_rate);
  recipe.steps = row->steps.value_or(recipe.steps);
  if (!row->schedule.empty()) recipe.schedule = row->schedule;
  return recipe;
}

}  // namespace retrace
