#include <retrace/models/training/recipes.h>

#include <algorithm>
#include <array>

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
           .steps = 8000},
    Recipe{.task = "copy", .hidden = 128, .slot_size = 32, .batch = 32, .learning_rate = 1e-2, .steps = 8000},
    Recipe{.task = "reverse", .hidden = 128, .slot_size = 32, .batch = 32, .learning_rate = 1e-2, .steps = 8000},
    Recipe{.task = "double", .hidden = 128, .slot_size = 32, .batch = 32, .learning_rate = 1e-2, .steps = 8000},
    Recipe{.task = "recall", .hidden = 64, .slot_size = 32, .batch = 64, .learning_rate = 1e-2, .steps = 8000},
    Recipe{.task = "parity", .hidden = 32, .slot_size = 16, .batch = 32, .learning_rate = 1e-2, .steps = 2000},
    Recipe{.task = "adding", .hidden = 64, .slot_size = 16, .batch = 32, .learning_rate = 5e-3, .steps = 2500},
    Recipe{.task = "nth-farthest",
           .hidden = 128,
           .slot_size = 64,
           .batch = 128,
           .learning_rate = 1e-3,
           .steps = 30000,
           .slots = 0,
           .heads = 4,
           .schedule = "trapezoid"},
    Recipe{.task = "execute", .hidden = 256, .slot_size = 64, .batch = 64, .learning_rate = 2e-3, .steps = 10000},
};

}  // namespace

const Recipe& recipe_for(std::string_view task) {
  const auto* found = std::find_if(recipes.begin(), recipes.end(), [task](const Recipe& r) { return r.task == task; });
  if (found == recipes.end())
    throw ValueError(text("recipe_for: the task '", task, "' has no recipe; add a line to recipes.cpp"));
  return *found;
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
