// How each task is trained when nobody says otherwise.
#pragma once

#include <cstdint>
#include <string_view>

#include <retrace/models/sequence_model.h>
#include <retrace/models/tasks/task.h>

namespace retrace {

struct Recipe {
  std::string_view task;
  std::int64_t hidden;     // of every model
  std::int64_t slot_size;  // of a relational memory, or of an rmc
  std::int64_t batch;
  double learning_rate;
  std::int64_t steps;
  std::int64_t slots = 4;  // of either; 0: one for each row of the sequence
  int heads = 2;           // of an rmc
  std::string_view schedule = "cosine";
};

/// The line of the table for a task. Throws ValueError for one that has none.
const Recipe& recipe_for(std::string_view task);
/// The sizes of a model that reads and answers the samples of a task.
ModelSizes sizes_for(const Task& task, const Recipe& recipe);

}  // namespace retrace
