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

/// The sums over the answers of each portion, of which a rank computes its own.
class Sums {
 public:
  Sums(const Task& task, const Measures& measures, const SeePortion& see, const EvaluationRanks& spread)
      : task_(task), measures_(measures), see_(see), spread_(spread), of_rank_(static_cast<std::size_t>(ranks())) {}

  /// Before each portion. Returns the rank that computes it. (Of a text, each rank computes all for itself.)
  int begin() {
    if (spread_.before_portion) spread_.before_portion();
    return static_cast<int>(portions_++ % ranks());
  }
  /// Takes the next portion, for which one rank runs the model.
  void take(const Batch& batch, const SequenceModel& model) {
    const int owner = begin();
    if (shares_outputs()) {
      waiting_.push_back(batch);
      if (std::ssize(waiting_) == ranks()) add_waiting(model);
    } else if (owner == rank()) {
      add(owner, batch, answer(model, task_, batch));
    }
  }
  /// Adds the portions, one of each rank, whose outputs were waited for.
  void add_waiting(const SequenceModel& model) {
    const auto count = static_cast<int>(waiting_.size());
    Tensor own;
    if (rank() < count) own = answer(model, task_, waiting_[static_cast<std::size_t>(rank())]);
    for (int owner = 0; owner < count; ++owner)
      add(owner, waiting_[static_cast<std::size_t>(owner)], tensor_from(*spread_.ranks, owner, own));
    waiting_.clear();
  }
  void add(int owner, const Batch& batch, const Tensor& output) {
    if (see_) see_(batch, output);
    const double answers = answers_in(task_, batch);
    const double loss = answers * measured_loss(measures_, task_, output, batch).item();
    double metric = 0;
    if (measures_.metric)
      metric = answers * measures_.metric(output, batch);
    else if (task_.metric() == Metric::accuracy)
      metric = static_cast<double>(count_right(output, batch.y));
    else
      metric = measures_.loss ? answers * task_loss(task_, output, batch).item() : loss;
    std::vector<double>& sums = of_rank_[static_cast<std::size_t>(owner)];
    sums.insert(sums.end(), {answers, loss, metric});
  }
  Evaluation means() {
    if (ranks() > 1 && !shares_outputs()) share();
    double counted = 0, loss = 0, metric = 0;
    for (std::int64_t portion = 0; portion < portions_; ++portion) {
      const double* sums =
          &of_rank_[static_cast<std::size_t>(portion % ranks())][static_cast<std::size_t>(portion / ranks() * 3)];
      counted += sums[0], loss += sums[1], metric += sums[2];
    }
    const double mean = metric / counted;
    return {loss / counted, measures_.metric ? mean : metric_of(task_.metric(), mean)};
  }

 private:
  int ranks() const { return spread_.ranks == nullptr ? 1 : spread_.ranks->size(); }
  int rank() const { return spread_.ranks == nullptr ? 0 : spread_.ranks->rank(); }
  bool shares_outputs() const { return see_ && ranks() > 1; }
  /// Gives every rank the sums of all.
  void share() {
    for (int owner = 0; owner < ranks(); ++owner) {
      std::vector<double>& sums = of_rank_[static_cast<std::size_t>(owner)];
      sums.resize(static_cast<std::size_t>(3 * ((portions_ - owner + ranks() - 1) / ranks())));
      share_from(*spread_.ranks, owner, std::as_writable_bytes(std::span(sums)));
    }
  }

  const Task& task_;
  const Measures& measures_;
  const SeePortion& see_;
  const EvaluationRanks& spread_;
  std::int64_t portions_ = 0;
  std::vector<Batch> waiting_;                // portions, the first of rank 0, whose outputs are shared
  std::vector<std::vector<double>> of_rank_;  // answers, loss and metric of each of its portions
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
                    const SeePortion& see, const Measures& measures, const EvaluationRanks& spread) {
  if (samples < 1) throw ValueError(text("evaluate: ", samples, " samples were asked for; ask for 1 or more"));
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  Sums sums(task, measures, see, spread);
  for (std::int64_t done = 0; done < samples; done += evaluation_portion)
    sums.take(task.sample(random, std::min(evaluation_portion, samples - done)), model);
  sums.add_waiting(model);
  return sums.means();
}

Evaluation evaluate(const SequenceModel& model, const Task& task, const Batch& samples, const SeePortion& see,
                    const Measures& measures, const EvaluationRanks& spread) {
  const std::int64_t count = samples.x.dim(0);
  if (count < 1) throw ValueError("evaluate: the batch has no samples; give 1 or more");
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  Sums sums(task, measures, see, spread);
  for (std::int64_t done = 0; done < count; done += evaluation_portion)
    sums.take(part(samples, done, std::min(evaluation_portion, count - done)), model);
  sums.add_waiting(model);
  return sums.means();
}

Evaluation evaluate(const SequenceModel& model, const Task& task, TokenIds ids, std::int64_t streams,
                    const SeePortion& see, const Measures& measures, const EvaluationRanks& spread) {
  const Streams read(ids, streams, task.sequence_length());
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  const EvaluationRanks alone{.before_portion = spread.before_portion};
  Sums sums(task, measures, see, alone);
  SequenceState state;
  for (std::int64_t number = 0; number < read.segments(); ++number) {
    const int own = sums.begin();
    const Batch segment = read.segment(number);
    Continued result = model.continued(segment.x, state);
    if (model.carries_state()) state = std::move(result.state);
    sums.add(own, segment, result.answers);
  }
  return sums.means();
}

Evaluation evaluate(const SequenceModel& model, const Task& task, Unseen unseen, std::uint64_t seed, std::int64_t count,
                    const SeePortion& see, const Measures& measures, const EvaluationRanks& spread) {
  const bool is_test = unseen == Unseen::test;
  if (const TextData* data = task.text_data()) {
    TokenIds ids = is_test ? data->test() : data->validation();
    if (!is_test) ids = ids.first(std::min(ids.size(), static_cast<std::size_t>(count * task.sequence_length() + 1)));
    return evaluate(model, task, ids, streams_of_test(ids), see, measures, spread);
  }
  if (const std::optional<HeldOut> held_out = task.held_out())
    return evaluate(model, task, is_test ? held_out->test : held_out->validation, see, measures, spread);
  return evaluate(model, task, Random(seed).stream(is_test ? "test" : "validation"), count, see, measures, spread);
}

}  // namespace retrace
