// Loss and metric of a model on samples that it has not seen.
#pragma once

#include <functional>

#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/task.h>
#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/ranks/communicator.h>

namespace retrace {

/// Means over answers. `metric` is Task::metric(), which for a text follows from the loss.
struct Evaluation {
  double loss = 0;
  double metric = 0;
};

/// A loss and a metric of your own for a task, in place of those that its kind gives; an empty function leaves that one
/// as it is. Both are called with the outputs of the model, [B, O] or [B, A, O], and the batch, and give means over its
/// answers. The loss is recorded, so it is made of ops.
struct Measures {
  std::function<Tensor(const Tensor& output, const Batch& batch)> loss = {};
  std::function<double(const Tensor& output, const Batch& batch)> metric = {};
  const char* metric_name = "metric";  // of your own
  bool more_is_better = true;          // of your own
};
/// The loss of a batch: the measures' own, or task_loss.
Tensor measured_loss(const Measures& measures, const Task& task, const Tensor& output, const Batch& batch);

/// The answers of a model to a task's sequences x [B, T, I]: [B, O], or [B, A, O] if A > 1 rows have an answer (all
/// rows, if x has fewer). In training, dropout draws from `random`.
Tensor answer(const SequenceModel& model, const Task& task, const Tensor& x, Random* random = nullptr);
/// The answers to a batch, also of different lengths (networks/different_lengths.h).
Tensor answer(const SequenceModel& model, const Task& task, const Batch& batch, Random* random = nullptr);
/// The loss of a task: cross entropy for a classification, mean squared error for a regression. Labels no_answer are
/// ignored.
Tensor task_loss(const Task& task, const Tensor& output, const Tensor& target);
/// The loss of a batch, also of different lengths: the mean over the answers that it has.
Tensor task_loss(const Task& task, const Tensor& output, const Batch& batch);
/// The accuracy, or mean squared error, of a batch.
double task_metric(const Task& task, const Tensor& output, const Tensor& target);
/// The answers over which the loss of a batch is a mean: labels, or numbers.
double answers_in(const Task& task, const Batch& batch);
/// evaluate() draws samples in portions of this many (the last one may be smaller).
inline constexpr std::int64_t evaluation_portion = 256;
/// Called with some of the samples and the outputs of the model.
using SeePortion = std::function<void(const Batch&, const Tensor& output)>;
/// Ranks that share an evaluation: portion k is of rank k mod N, and what all found is added up in the order of the
/// portions, so that any number of ranks gives the same bytes. (A text, whose segments follow each other, is read by
/// every rank.) A SeePortion sees all portions in their order on every rank, since the outputs are then shared.
/// `before_portion` is called on every rank before each portion.
struct EvaluationRanks {
  Communicator* ranks = nullptr;
  std::function<void()> before_portion = {};
};
/// Runs the model on `samples` samples drawn from `random`, in portions, each of which is passed to `see`. The same
/// generator gives the same samples. Throws ValueError for less than one sample.
Evaluation evaluate(const SequenceModel& model, const Task& task, Random random, std::int64_t samples,
                    const SeePortion& see = {}, const Measures& measures = {}, const EvaluationRanks& spread = {});
/// Evaluates on given samples, of any real dtype. Throws ValueError for an empty batch.
Evaluation evaluate(const SequenceModel& model, const Task& task, const Batch& samples, const SeePortion& see = {},
                    const Measures& measures = {}, const EvaluationRanks& spread = {});
/// Evaluates on every token of a text but the first, read as `streams`, each in segments of the task's length; a model
/// that carries its state goes on from that after the segment before. Throws ValueError for fewer than 2 tokens.
Evaluation evaluate(const SequenceModel& model, const Task& task, TokenIds ids, std::int64_t streams,
                    const SeePortion& see = {}, const Measures& measures = {}, const EvaluationRanks& spread = {});

/// The samples that a model is not trained on.
enum class Unseen { validation, test };
/// Evaluates on those that the task holds out; of a text, on its part for that, of a validation no more than the first
/// `count` segments; and otherwise on `count` that are drawn from the seed.
Evaluation evaluate(const SequenceModel& model, const Task& task, Unseen unseen, std::uint64_t seed, std::int64_t count,
                    const SeePortion& see = {}, const Measures& measures = {}, const EvaluationRanks& spread = {});

}  // namespace retrace
