// One training by names and numbers, as `retrace train` and the demo run it.
#pragma once

#include <memory>
#include <string>

#include <retrace/models/training/fit.h>
#include <retrace/models/training/stored_run.h>

namespace retrace {

/// A training that was prepared: task and model and, after train(), the result.
struct Run {
  RunOptions options;  // with the recipe's numbers where none were chosen
  std::unique_ptr<Task> task;
  std::unique_ptr<SequenceModel> model;
  FitResult fit = {};

  /// Trains the model as the options say, and sets `fit`.
  void train() { fit = retrace::fit(*model, *task, options.fit); }
  /// The name of the task, or the file of the text.
  std::string subject() const { return options.task_options.text.value_or(options.task); }
  /// The samples of the test, in words: "10000 fresh samples of the full task", "30 samples that were held out".
  std::string test_in_words() const;
  /// The samples of a validation.
  std::int64_t validation_samples() const;
  /// The floating-point operations of forward and backward for one sample of a batch.
  std::int64_t flops_a_sample() const;
  /// For the checkpoint.
  ModelDescription description() const { return describe_run(options, *task); }
  void save_weights(const std::string& path) const { save_run(path, options, *task, *model); }
  /// One object: names, numbers, the test metric and its baselines, the hash of the weights.
  std::string json() const;
};

/// Makes the task and the model. Throws ValueError, with the nearest right name, for a task or model that is not known,
/// and for an option that the model or its memory does not have: see choices_of() and memory_choices(). With
/// RunOptions::from, the options of the same task are those of the stored run where none are given; throws what
/// load_run throws, and ValueError for weights that do not fit the task, and for data with other columns, classes or
/// targets.
Run prepare(const RunOptions& options);

}  // namespace retrace
