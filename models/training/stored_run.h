// A model that was trained on a task, in a file: its weights, and a description from which to make task and model
// again.
#pragma once

#include <memory>
#include <string>

#include <retrace/models/training/run_options.h>

namespace retrace {

/// Task and its options, model and its sizes, seed, number of test samples, in the entry "trained".
ModelDescription describe_run(const RunOptions& options, const Task& task);
/// The weights as a safetensors file with that description.
void save_run(const std::string& path, const RunOptions& options, const Task& task, const SequenceModel& model);

/// The contents of a run's folder, its weights or its checkpoint.
struct StoredRun {
  std::string path;  // of the file that was read
  std::string task_name;
  TaskOptions task_options;
  ModelSpec spec;  // with every size
  std::uint64_t seed = 0;
  std::int64_t test_samples = 0;
  std::int64_t step = 0;     // of a checkpoint: after which it was written; 0 for weights
  bool other_sizes = false;  // of the task than in training
  std::string input = {};    // another file than the training's, whose samples the task has
  std::unique_ptr<Task> task;
  std::unique_ptr<SequenceModel> model;  // of the dtype of its weights
};

/// Whether the samples that a model was trained on are needed, too: those of a file are then read again.
enum class TaskSamples { read, none };

/// Reads weights.safetensors of a folder (checkpoint.safetensors if there are none), or a file of either kind. A
/// checkpoint gives the best parameters so far, which the training would write if it ended now. Throws FileError for a
/// file that is missing, unreadable or not of a model on a task, for weights that are not finite, and for a text whose
/// part for the test has changed; ValueError for a task or model that this program does not know. Every error names the
/// file.
StoredRun load_run(const std::string& path, TaskSamples samples = TaskSamples::read);

/// The task of the same name with other options; a text is read in the tokens that the model knows. Throws what
/// make_task throws.
std::unique_ptr<Task> make_task_again(const StoredRun& run, const TaskOptions& options);
/// Gives the run the task of the same name with the options that are given in place of its own, to test the model on
/// harder samples than it was trained on. Throws ValueError for a task with other sizes of input or output, or whose
/// sequences the model cannot read (check_reads); the run is then as it was.
void change_task(StoredRun& run, const TaskOptions& given);
/// Gives the run the samples of another file, to test the model on all of them. `separator` is that of the columns, if
/// it is not the training's. Throws what task_on_file throws, and ValueError if the model was not trained on a user's
/// data.
void test_on_file(StoredRun& run, const std::string& path, const std::string& separator = {});
/// Throws ValueError if the model has no positions for the rows of the task's longest samples.
void check_reads(const StoredRun& run, const Task& task);

}  // namespace retrace
