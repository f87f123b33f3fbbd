// Loss and metric of a model on samples that it has not seen.
#pragma once

#include <functional>

#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/task.h>

namespace retrace {

/// Means over answers. `metric` is the one that metric_name(task.kind()) names.
struct Evaluation {
  double loss = 0;
  double metric = 0;
};

/// The answers of a model to a task's sequences x [B, T, I]: [B, O], or [B, A, O] if A > 1 rows have an answer.
Tensor answer(const SequenceModel& model, const Task& task, const Tensor& x);
/// The loss of a task: cross entropy for a classification, mean squared error for a regression. Labels no_answer are
/// ignored.
Tensor task_loss(const Task& task, const Tensor& output, const Tensor& target);
/// The metric of a batch that metric_name(task.kind()) names.
double task_metric(const Task& task, const Tensor& output, const Tensor& target);
/// evaluate() draws samples in portions of this many (the last one may be smaller).
inline constexpr std::int64_t evaluation_portion = 256;
/// Called with some of the samples and the outputs of the model.
using SeePortion = std::function<void(const Batch&, const Tensor& output)>;
/// Runs the model on `samples` samples drawn from `random`, in portions, each of which is passed to `see`. The same
/// generator gives the same samples. Throws ValueError for less than one sample.
Evaluation evaluate(const SequenceModel& model, const Task& task, Random random, std::int64_t samples,
                    const SeePortion& see = {});
/// Evaluates on given samples, of any real dtype. Throws ValueError for an empty batch.
Evaluation evaluate(const SequenceModel& model, const Task& task, const Batch& samples, const SeePortion& see = {});

}  // namespace retrace
