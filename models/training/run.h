// One training from names and numbers: what `retrace train` and the demo do.
#pragma once

#include <memory>
#include <string>

#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/fit.h>

namespace retrace {

struct RunOptions {
  std::string task;
  std::string model;
  std::string memory = "cell";  // of a relational-rnn
  Dtype dtype = f32;
  TaskOptions task_options = {};
  std::int64_t hidden = 0;  // 0, here and below: the recipe's
  std::int64_t slot_size = 0;
  std::int64_t slots = 0;  // of a relational memory, like its heads and parts; 0: the recipe's
  int heads = 0;
  MemoryParts parts = {};
  FitOptions fit{.steps = 0, .batch = 0, .learning_rate = 0, .schedule = ""};
};

struct Run {
  RunOptions options;  // with the recipe's numbers in the place of zeros
  std::unique_ptr<Task> task;
  std::unique_ptr<SequenceModel> model;
  FitResult fit;
};

/// The sizes of its model, for options without zeros. Their `memory` is that of the options, which must outlive them.
ModelSizes sizes_of(const RunOptions& options, const Task& task);
/// Makes the task and the model. Throws ValueError, with the nearest right name, for one that is not known, and for
/// what the model's memory does not let one choose: see memory_choices().
Run prepare(const RunOptions& options);
/// Trains the model as the options say, by the task's recipe where they are silent.
void train(Run& run);

/// The whole run: names, numbers, the test metric beside its yardsticks, the hash of the weights.
std::string to_json(const Run& run);

}  // namespace retrace
