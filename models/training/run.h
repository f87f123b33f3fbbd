// One training from names and numbers: what `retrace train` and the demo do.
#pragma once

#include <memory>
#include <string>

#include <retrace/models/training/fit.h>
#include <retrace/models/training/recipes.h>

namespace retrace {

struct RunOptions {
  std::string task;
  std::string model;
  std::string memory = "cell";  // of a relational-rnn
  std::uint64_t seed = 0;
  Dtype dtype = f32;
  // Instead of the recipe's, where they are not 0.
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t hidden = 0;
  double learning_rate = 0;
};

struct Run {
  RunOptions options;
  Recipe recipe;
  std::unique_ptr<Task> task;
  std::unique_ptr<SequenceModel> model;
  FitResult fit;
};

/// Makes the task and the model. Throws ValueError, with the nearest right name, for one that is not known.
Run prepare(const RunOptions& options);
/// Trains the model by the task's recipe, with metrics and progress as fit writes them.
void train(Run& run, std::ostream* metrics = nullptr, const ProgressOptions& progress = {});

}  // namespace retrace
