#include <retrace/models/training/evaluate.h>

#include <retrace/ops/ops.h>

#include <algorithm>

namespace retrace {
namespace {

constexpr std::int64_t portion = 256;

double accuracy(const Tensor& logits, const Tensor& labels) {
  const Tensor answers = argmax(logits);
  const auto given = answers.values<std::int64_t>();
  const auto right = labels.values<std::int64_t>();
  std::int64_t hits = 0;
  for (std::size_t sample = 0; sample < right.size(); ++sample) hits += given[sample] == right[sample] ? 1 : 0;
  return static_cast<double>(hits) / static_cast<double>(right.size());
}

}  // namespace

Tensor task_loss(const Task& task, const Tensor& output, const Tensor& target) {
  return task.kind() == TaskKind::classification ? cross_entropy(output, target) : mse(output, target);
}

double task_metric(const Task& task, const Tensor& output, const Tensor& target) {
  return task.kind() == TaskKind::classification ? accuracy(output, target) : task_loss(task, output, target).item();
}

Evaluation evaluate(const SequenceModel& model, const Task& task, Random random, std::int64_t samples) {
  if (samples < 1) throw ValueError(text("evaluate: ", samples, " samples were asked for; ask for 1 or more"));
  const NoTape unrecorded;
  Evaluation total;
  for (std::int64_t done = 0; done < samples; done += portion) {
    const Batch batch = task.sample(random, std::min(portion, samples - done));
    const Tensor output = model(batch.x);
    const double loss = task_loss(task, output, batch.y).item();
    const double share = static_cast<double>(batch.x.dim(0)) / static_cast<double>(samples);
    total.loss += share * loss;
    total.metric += share * (task.kind() == TaskKind::classification ? accuracy(output, batch.y) : loss);
  }
  return total;
}

}  // namespace retrace
