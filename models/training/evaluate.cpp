#include <retrace/core/subnormals.h>
#include <retrace/models/training/evaluate.h>

#include <retrace/ops/ops.h>

#include <algorithm>

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

std::int64_t count_answers(const Task& task, const Tensor& target) {
  if (task.kind() == TaskKind::regression) return target.numel();
  const auto labels = target.values<std::int64_t>();
  return target.numel() - std::count(labels.begin(), labels.end(), no_answer);
}

/// Sums over answers.
class Sums {
 public:
  explicit Sums(const Measures& measures) : measures_(measures) {}
  void add(const SequenceModel& model, const Task& task, const Batch& batch, const SeePortion& see) {
    const Tensor output = answer(model, task, batch.x);
    if (see) see(batch, output);
    const auto answers = static_cast<double>(count_answers(task, batch.y));
    const double loss = answers * measured_loss(measures_, task, output, batch).item();
    counted_ += answers;
    loss_ += loss;
    if (measures_.metric)
      metric_ += answers * measures_.metric(output, batch);
    else if (task.kind() == TaskKind::regression)
      metric_ += measures_.loss ? answers * task_loss(task, output, batch.y).item() : loss;
    else
      metric_ += static_cast<double>(count_right(output, batch.y));
  }
  Evaluation means() const { return {loss_ / counted_, metric_ / counted_}; }

 private:
  const Measures& measures_;
  double counted_ = 0, loss_ = 0, metric_ = 0;
};

/// `count` samples from the first-th on, numbers in the default dtype.
Batch part(const Batch& samples, std::int64_t first, std::int64_t count) {
  const auto rows = [&](const Tensor& all) {
    const Tensor some = slice(all, {range(first, first + count)});
    return some.dtype() == i64 ? some : some.to(default_dtype());
  };
  return {rows(samples.x), rows(samples.y)};
}

}  // namespace

Tensor answer(const SequenceModel& model, const Task& task, const Tensor& x, Random* random) {
  return task.answer_length() == 1 ? model(x, random) : model.answers(x, task.answer_length(), random);
}

Tensor task_loss(const Task& task, const Tensor& output, const Tensor& target) {
  return task.kind() == TaskKind::regression ? mse(output, target)
                                             : cross_entropy(output, target, {.ignore_index = no_answer});
}

Tensor measured_loss(const Measures& measures, const Task& task, const Tensor& output, const Batch& batch) {
  return measures.loss ? measures.loss(output, batch) : task_loss(task, output, batch.y);
}

double task_metric(const Task& task, const Tensor& output, const Tensor& target) {
  if (task.kind() == TaskKind::regression) return task_loss(task, output, target).item();
  return static_cast<double>(count_right(output, target)) / static_cast<double>(count_answers(task, target));
}

Evaluation evaluate(const SequenceModel& model, const Task& task, Random random, std::int64_t samples,
                    const SeePortion& see, const Measures& measures) {
  if (samples < 1) throw ValueError(text("evaluate: ", samples, " samples were asked for; ask for 1 or more"));
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  Sums sums(measures);
  for (std::int64_t done = 0; done < samples; done += evaluation_portion)
    sums.add(model, task, task.sample(random, std::min(evaluation_portion, samples - done)), see);
  return sums.means();
}

Evaluation evaluate(const SequenceModel& model, const Task& task, const Batch& samples, const SeePortion& see,
                    const Measures& measures) {
  const std::int64_t count = samples.x.dim(0);
  if (count < 1) throw ValueError("evaluate: the batch has no samples; give 1 or more");
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  Sums sums(measures);
  for (std::int64_t done = 0; done < count; done += evaluation_portion)
    sums.add(model, task, part(samples, done, std::min(evaluation_portion, count - done)), see);
  return sums.means();
}

}  // namespace retrace
