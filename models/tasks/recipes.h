// How each task is trained when nobody says otherwise.
#pragma once

#include <cstdint>
#include <string_view>

#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/dataset.h>

namespace retrace {

struct Recipe {
  std::string_view task = {};
  std::int64_t hidden = 64;     // of every model
  std::int64_t slot_size = 32;  // of a relational memory, or of an rmc
  std::int64_t batch = 64;
  double learning_rate = 1e-2;
  std::int64_t steps = 3000;
  std::int64_t slots = 4;  // of either; 0: one for each row of the sequence
  int heads = 2;           // of an rmc
  std::string_view schedule = "cosine";
};

/// A task of your own (tasks/task.h) and how it is trained; recipe.task is set to the name. Throws ValueError, too, for
/// numbers of the recipe that are not above 0.
void register_task(std::string_view name, TaskFactory factory, const Recipe& recipe);

/// Data of your own as a task: see tasks/dataset.h, whose errors it throws, too.
void register_task(std::string_view name, const Tensor& x, const Tensor& y, const Recipe& recipe = {},
                   const DatasetOptions& options = {});

/// The line of the table for a task; Recipe{} for one that was registered without. Throws ValueError for one that is
/// not known.
const Recipe& recipe_for(std::string_view task);
/// The sizes of a model that reads and answers the samples of a task.
ModelSizes sizes_for(const Task& task, const Recipe& recipe);

}  // namespace retrace
