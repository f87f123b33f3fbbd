#include <retrace/core/base/subnormals.h>
#include <retrace/models/networks/different_lengths.h>
#include <retrace/models/tasks/text/streams.h>
#include <retrace/models/training/evaluate.h>

#include <retrace/ops/ops.h>

#include <algorithm>
#include <numeric>

namespace retrace {
namespace {

/// The number of right answers. A row without an answer is never right, because no class is its label.
std::int64_t count_right(const Tensor& logits, const Tensor& labels) {
  const Tensor answers = argmax(logits);
  const auto given = answers.values<std::int64_t>();
  const auto right = labels.values<std::int64_t>();
  std::int64_t hits = 0;
  for (std::size_t row = 0; row < right.size(); ++row) hits += given[row] == right[row] ? 1 : 0;
  return hits;
}

std::int64_t count_labels(const Tensor& target) {
  const auto labels = target.values<std::int64_t>();
  return target.numel() - std::count(labels.begin(), labels.end(), no_answer);
}

/// Sums over answers.
class Sums {
 public:
  Sums(const Task& task, const Measures& measures, const SeePortion& see)
      : task_(task), measures_(measures), see_(see) {}
  void add(const Batch& batch, const Tensor& output) {
    if (see_) see_(batch, output);
    const double answers = answers_in(task_, batch);
    const double loss = answers * measured_loss(measures_, task_, output, batch).item();
    counted_ += answers;
    loss_ += loss;
    if (measures_.metric)
      metric_ += answers * measures_.metric(output, batch);
    else if (task_.metric() == Metric::accuracy)
      metric_ += static_cast<double>(count_right(output, batch.y));
    else
      metric_ += measures_.loss ? answers * task_loss(task_, output, batch).item() : loss;
  }
  Evaluation means() const {
    const double mean = metric_ / counted_;
    return {loss_ / counted_, measures_.metric ? mean : metric_of(task_.metric(), mean)};
  }

 private:
  const Task& task_;
  const Measures& measures_;
  const SeePortion& see_;
  double counted_ = 0, loss_ = 0, metric_ = 0;
};

/// Samples [first, first + count), numbers in the default dtype.
Batch part(const Batch& samples, std::int64_t first, std::int64_t count) {
  const auto in_default_dtype = [](const Tensor& x) { return x.dtype() == i64 ? x : x.to(default_dtype()); };
  Batch some = samples.part(first, count);
  some.x = in_default_dtype(some.x), some.y = in_default_dtype(some.y);
  return some;
}

}  // namespace

Tensor answer(const SequenceModel& model, const Task& task, const Tensor& x, Random* random) {
  return task.answer_length() == 1 ? model(x, random)
                                   : model.answers(x, std::min(task.answer_length(), x.dim(1)), random);
}

Tensor answer(const SequenceModel& model, const Task& task, const Batch& batch, Random* random) {
  if (!batch.lengths.defined()) return answer(model, task, batch.x, random);
  return task.answer_length() == 1 ? answers_at_ends(model, batch.x, batch.lengths, random)
                                   : answers_to_all_rows(model, batch.x, batch.lengths, random);
}

Tensor task_loss(const Task& task, const Tensor& output, const Tensor& target) {
  return task.kind() == TaskKind::regression ? mse(output, target)
                                             : cross_entropy(output, target, {.ignore_index = no_answer});
}

Tensor task_loss(const Task& task, const Tensor& output, const Batch& batch) {
  const Tensor loss = task_loss(task, output, batch.y);
  if (task.kind() == TaskKind::classification || !batch.lengths.defined() || task.answer_length() == 1) return loss;
  // Behind the end of a sequence, output and target are 0.
  return loss * (static_cast<double>(batch.y.numel()) / answers_in(task, batch));
}

double answers_in(const Task& task, const Batch& batch) {
  if (task.kind() == TaskKind::classification) return static_cast<double>(count_labels(batch.y));
  if (!batch.lengths.defined() || task.answer_length() == 1) return static_cast<double>(batch.y.numel());
  const auto lengths = batch.lengths.values<std::int64_t>();
  return static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) * batch.y.dim(-1));
}

Tensor measured_loss(const Measures& measures, const Task& task, const Tensor& output, const Batch& batch) {
  return measures.loss ? measures.loss(output, batch) : task_loss(task, output, batch);
}

double task_metric(const Task& task, const Tensor& output, const Tensor& target) {
  if (task.kind() == TaskKind::regression) return task_loss(task, output, target).item();
  return static_cast<double>(count_right(output, target)) / static_cast<double>(count_labels(target));
}

Evaluation evaluate(const SequenceModel& model, const Task& task, Random random, std::int64_t samples,
                    const SeePortion& see, const Measures& measures) {
  if (samples < 1) throw ValueError(text("evaluate: ", samples, " samples were asked for; ask for 1 or more"));
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  Sums sums(task, measures, see);
  for (std::int64_t done = 0; done < samples; done += evaluation_portion) {
    const Batch batch = task.sample(random, std::min(evaluation_portion, samples - done));
    sums.add(batch, answer(model, task, batch));
  }
  return sums.means();
}

Evaluation evaluate(const SequenceModel& model, const Task& task, const Batch& samples, const SeePortion& see,
                    const Measures& measures) {
  const std::int64_t count = samples.x.dim(0);
  if (count < 1) throw ValueError("evaluate: the batch has no samples; give 1 or more");
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  Sums sums(task, measures, see);
  for (std::int64_t done = 0; done < count; done += evaluation_portion) {
    const Batch batch = part(samples, done, std::min(evaluation_portion, count - done));
    sums.add(batch, answer(model, task, batch));
  }
  return sums.means();
}

Evaluation evaluate(const SequenceModel& model, const Task& task, TokenIds ids, std::int64_t streams,
                    const SeePortion& see, const Measures& measures) {
  const Streams read(ids, streams, task.sequence_length());
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  Sums sums(task, measures, see);
  SequenceState state;
  for (std::int64_t number = 0; number < read.segments(); ++number) {
    const Batch segment = read.segment(number);
    Continued result = model.continued(segment.x, state);
    if (model.carries_state()) state = std::move(result.state);
    sums.add(segment, result.answers);
  }
  return sums.means();
}

Evaluation evaluate(const SequenceModel& model, const Task& task, Unseen unseen, std::uint64_t seed, std::int64_t count,
                    const SeePortion& see, const Measures& measures) {
  const bool is_test = unseen == Unseen::test;
  if (const TextData* data = task.text_data()) {
    TokenIds ids = is_test ? data->test() : data->validation();
    if (!is_test) ids = ids.first(std::min(ids.size(), static_cast<std::size_t>(count * task.sequence_length() + 1)));
    return evaluate(model, task, ids, streams_of_test(ids), see, measures);
  }
  if (const std::optional<HeldOut> held_out = task.held_out())
    return evaluate(model, task, is_test ? held_out->test : held_out->validation, see, measures);
  return evaluate(model, task, Random(seed).stream(is_test ? "test" : "validation"), count, see, measures);
}

}  // namespace retrace
