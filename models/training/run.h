// One training by names and numbers, as `retrace train` and the demo run it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/tasks/recipes.h>
#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/learning_rate_finder.h>

namespace retrace {

/// A training by names and numbers.
struct RunOptions {
  std::string task;  // one of run_names(); prepare() takes task_names() and data_task
  ModelSpec model;   // sizes that are not chosen are the recipe's
  Dtype dtype = f32;
  TaskOptions task_options = {};
  TextSource text = {};   // of the tasks that read one
  std::string from = {};  // a stored run (folder or file) with whose model and weights the training begins; of
                          // `model`, only the dropout is then used
  bool draws = true;      // the initial weights; false where a checkpoint's replace them before the first step
  FitOptions fit = {};    // the recipe's numbers where none are given
};

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

/// The model with every size chosen: by the options, otherwise by the recipe.
ModelSpec filled_spec(const RunOptions& options, const Task& task);
/// Makes a model for a task. Throws what make_model throws.
std::unique_ptr<SequenceModel> make_model_for(const Task& task, const ModelSpec& spec, Random& random);
/// Makes the task and the model. Throws ValueError, with the nearest right name, for a task or model that is not known,
/// and for an option that the model or its memory does not have: see choices_of() and memory_choices(). With
/// RunOptions::from, the options of the same task are those of the stored run where none are given; throws what
/// load_run throws, and ValueError for weights that do not fit the task, and for data with other columns, classes or
/// targets.
TaskRun prepare(const RunOptions& options);

/// Trains one of several runs, which its name tells apart from the others. One that stores runs in files may return
/// what an earlier program trained.
using TrainRun = std::function<FitResult(const RunOptions& options, const std::string& name)>;
/// Trains it anew, without files.
FitResult train_anew(const RunOptions& options, const std::string& name);

}  // namespace retrace
