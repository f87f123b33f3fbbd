// How good a model is on samples it has not seen.
#pragma once

#include <retrace/models/sequence_model.h>
#include <retrace/models/tasks/task.h>

namespace retrace {

/// Means over samples. `metric` is what metric_name(task.kind()) says.
struct Evaluation {
  double loss = 0;
  double metric = 0;
};

/// The loss that a task is trained by: cross entropy of a classification, mean squared error of a regression.
Tensor task_loss(const Task& task, const Tensor& output, const Tensor& target);
/// What metric_name(task.kind()) says, of a batch.
double task_metric(const Task& task, const Tensor& output, const Tensor& target);
/// Runs the model on `samples` samples drawn from `random`, in portions. The same generator gives the same samples.
/// Throws ValueError for less than one sample.
Evaluation evaluate(const SequenceModel& model, const Task& task, Random random, std::int64_t samples);

}  // namespace retrace
