// One training by names and numbers, as `retrace train` and the demo run it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/training/fit.h>
#include <retrace/models/training/learning_rate_finder.h>
#include <retrace/models/training/run_options.h>

namespace retrace {

/// A training that was prepared: model, data and, after train(), the result.
struct Run {
  RunOptions options;  // with the recipe's numbers where none were chosen
  FitResult fit = {};

  explicit Run(RunOptions given) : options(std::move(given)) {}
  Run(Run&&) = default;
  Run& operator=(Run&&) = default;
  virtual ~Run() = default;

  /// Trains the model as the options say, and sets `fit`.
  virtual void train() = 0;
  /// The losses of the model, which is not changed, under a rising learning rate.
  virtual LearningRateCurve find_learning_rate() = 0;
  /// The name of the task, or the file of the text.
  virtual std::string subject() const = 0;
  virtual std::string_view metric() const = 0;
  virtual Baselines baselines() const = 0;
  /// Whether more of the metric is better.
  virtual bool more_is_better() const = 0;
  /// Remarks for the user about the data, a line each.
  virtual std::vector<std::string> remarks() const { return {}; }
  /// The number of easier lessons, and what the test is made on, in words: "10000 fresh samples of the full task",
  /// "30 samples that were held out".
  virtual std::int64_t lessons() const { return 0; }
  virtual std::string test_in_words() const = 0;
  /// The samples of a validation.
  virtual std::int64_t validation_samples() const { return options.fit.validation_samples; }
  /// The weights of the model, and the floating-point operations of forward and backward for one sample of a batch.
  virtual std::vector<NamedTensor> weights() const = 0;
  virtual std::int64_t flops_a_sample() const = 0;
  /// Whether the ceiling of the baselines is known.
  virtual bool knows_ceiling() const = 0;
  /// For the checkpoint.
  virtual ModelDescription description() const = 0;
  virtual void save_weights(const std::string& path) const = 0;
  /// One object: names, numbers, the test metric and its baselines, the hash of the weights.
  virtual std::string json() const = 0;
};

/// A model that learns a task.
struct TaskRun : Run {
  std::unique_ptr<Task> task;
  std::unique_ptr<SequenceModel> model;

  TaskRun(RunOptions given, std::unique_ptr<Task> given_task);
  void train() override { fit = retrace::fit(*model, *task, options.fit); }
  LearningRateCurve find_learning_rate() override { return retrace::find_learning_rate(*model, *task, options.fit); }
  std::string subject() const override { return options.task; }
  std::string_view metric() const override { return metric_name(task->kind()); }
  Baselines baselines() const override { return task->baselines(); }
  bool more_is_better() const override { return task->kind() == TaskKind::classification; }
  std::vector<std::string> remarks() const override { return task->remarks(); }
  std::int64_t lessons() const override { return std::ssize(task->lessons()); }
  std::string test_in_words() const override;
  std::int64_t validation_samples() const override;
  std::vector<NamedTensor> weights() const override { return parameters(*model); }
  std::int64_t flops_a_sample() const override;
  bool knows_ceiling() const override { return true; }
  ModelDescription description() const override;
  void save_weights(const std::string& path) const override;
  std::string json() const override;
};

/// Makes the task and the model. Throws ValueError, with the nearest right name, for a task or model that is not known,
/// and for an option that the model or its memory does not have: see choices_of() and memory_choices(). With
/// RunOptions::from, the options of the same task are those of the stored run where none are given; throws what
/// load_run throws, and ValueError for weights that do not fit the task, and for data with other columns, classes or
/// targets.
TaskRun prepare(const RunOptions& options);

/// Options that a kind of training refuses.
struct Refusal {
  bool (*applies)(const RunOptions&);
  std::string_view message;  // the reason, and the remedy
};

/// A kind of training, on the samples of a task or on a text: how those on some tasks are made, and which options they
/// take.
struct RunKind {
  std::span<const std::string_view> (*tasks)();  // their names
  std::unique_ptr<Run> (*prepare)(const RunOptions&);
  Recipe (*recipe)(std::string_view task);  // for any model
  bool reads_text = false;                  // whether it takes RunOptions::text
  std::span<const Refusal> refusals = {};
};

}  // namespace retrace
