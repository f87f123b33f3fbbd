// How good a model is on samples it has not seen.
#pragma once

#include <functional>

#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/task.h>

namespace retrace {

/// Means over answers. `metric` is what metric_name(task.kind()) says.
struct Evaluation {
  double loss = 0;
  double metric = 0;
};

/// What a model answers to a task's sequences x [B, T, I]: [B, O], or [B, A, O] where A > 1 rows have an answer.
Tensor answer(const SequenceModel& model, const Task& task, const Tensor& x);
/// The loss that a task is trained by: cross entropy of a classification, mean squared error of a regression. Labels
/// no_answer count nowhere.
Tensor task_loss(const Task& task, const Tensor& output, const Tensor& target);
/// What metric_name(task.kind()) says, of a batch.
double task_metric(const Task& task, const Tensor& output, const Tensor& target);
/// Sees some of the samples and what the model answered to them.
using SeePortion = std::function<void(const Batch&, const Tensor& output)>;
/// Runs the model on `samples` samples drawn from `random`, in portions, which `see` is shown, too. The same generator
/// gives the same samples. Throws ValueError for less than one sample.
Evaluation evaluate(const SequenceModel& model, const Task& task, Random random, std::int64_t samples,
                    const SeePortion& see = {});
/// The same on given samples, of any real dtype. Throws ValueError for an empty batch.
Evaluation evaluate(const SequenceModel& model, const Task& task, const Batch& samples, const SeePortion& see = {});

}  // namespace retrace
