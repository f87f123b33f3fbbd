// One training from names and numbers: what `retrace train` and the demo do.
#pragma once

#include <memory>
#include <string>

#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/fit.h>

namespace retrace {

struct RunOptions {
  std::string task;
  ModelSpec model;  // sizes that are not chosen are the recipe's
  Dtype dtype = f32;
  TaskOptions task_options = {};
  /// Zeros, and an empty schedule, are the recipe's.
  FitOptions fit{.steps = 0, .batch = 0, .learning_rate = 0, .schedule = ""};
};

struct Run {
  RunOptions options;  // with the recipe's numbers where none were chosen
  std::unique_ptr<Task> task;
  std::unique_ptr<SequenceModel> model;
  FitResult fit;
};

/// Its model with every size chosen: by the recipe where the options do not.
ModelSpec filled_spec(const RunOptions& options, const Task& task);
/// Makes a model for a task. Throws what make_model throws.
std::unique_ptr<SequenceModel> make_model_for(const Task& task, const ModelSpec& spec, Random& random);
/// Makes the task and the model. Throws ValueError, with the nearest right name, for one that is not known, and for
/// what the model's memory does not let one choose: see memory_choices().
Run prepare(const RunOptions& options);
/// Trains the model as the options say, by the task's recipe where they are silent.
void train(Run& run);

/// The whole run: names, numbers, the test metric beside its yardsticks, the hash of the weights.
std::string to_json(const Run& run);

}  // namespace retrace
