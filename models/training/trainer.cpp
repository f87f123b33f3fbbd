#include <retrace/core/tape/tape.h>
#include <retrace/models/training/slot_specialisation.h>
#include <retrace/models/training/trainer.h>
#include <retrace/nn/module/module.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

Batch rows_of(const Batch& batch, const Shard& shard) {
  return batch.part(shard.begin(batch.size()), shard.size(batch.size()));
}

Batch first_portion(const Batch& samples) { return samples.part(0, std::min(samples.size(), evaluation_portion)); }

}  // namespace

Trainer::Trainer(const SequenceModel& model, const Task& task, const FitOptions& options)
    : Training(parameters(model), options),
      model_(model),
      task_(task),
      batches_(Random(options.seed).stream("batch")),
      dropout_(Random(options.seed).stream("dropout")) {
  if (options.curriculum) lessons_ = task.lessons();
  if (const TextData* data = task.text_data()) begin_streams(*data);
  if (options.specialise > 0) check_topics();
}

void Trainer::begin_streams(const TextData& data) {
  const std::int64_t rows = *options().batch, shards = options().shards.value_or(1);
  check_length(data, rows, task_.sequence_length());
  streams_.emplace(data.training(), rows, task_.sequence_length());
  carried_.resize(static_cast<std::size_t>(shards));
  if (!model_.carries_state()) return;
  // Tensors for a checkpoint to be copied into.
  const DtypeScope scope(weights().front().tensor.dtype());
  const Batch first = streams_->segment(0);
  for (std::int64_t k = 0; k < shards; ++k)
    carried_[static_cast<std::size_t>(k)] = model_.continued(rows_of(first, {k, shards}).x, {}).state.detach();
}

void Trainer::check_topics() const {
  const NoTape unrecorded;
  Random random = batches_.stream("topics");
  const Batch batch = task_.sample(random, 8);
  if (!model_.trace(batch.x))
    throw ValueError("fit: specialise is for models with a memory of slots, and this one has none; leave it out");
  const Tensor topics = topics_of(task_, batch);
  if (std::ranges::all_of(topics.values<std::int64_t>(), [](std::int64_t topic) { return topic < 0; }))
    throw ValueError(text("fit: specialise needs rows with topics, and those of the task '", task_.name(),
                          "' have none; leave it out"));
}

std::string Trainer::description() const {
  const std::string lessons = lessons_.empty() ? "" : text(" of ", lessons_.size(), " lessons");
  const std::string data = task_.fingerprint();
  return text(task_.name(), data.empty() ? "" : ", data " + data, ", seed ", options().seed,
              options().curriculum ? ", curriculum" + lessons : "");
}

std::string_view Trainer::metric() const {
  const Measures& own = options().measures;
  return own.metric ? own.metric_name : name_of(task_.metric());
}

bool Trainer::more_is_better() const {
  const Measures& own = options().measures;
  return own.metric ? own.more_is_better : retrace::more_is_better(task_.metric());
}

Batch Trainer::drawn(std::int64_t number) const {
  if (streams_) return streams_->segment(number % streams_->segments());
  Random random = batches_.stream(static_cast<std::uint64_t>(number));
  const auto lesson = static_cast<std::size_t>(curriculum_.lesson);
  return (lesson < lessons_.size() ? *lessons_[lesson].task : task_).sample(random, *options().batch);
}

const Batch& Trainer::kept(std::int64_t number) {
  for (const Kept& each : kept_)
    if (each.number == number && each.lesson == curriculum_.lesson) return each.batch;
  if (std::ssize(kept_) == options().accumulate) kept_.erase(kept_.begin());
  kept_.push_back({number, curriculum_.lesson, drawn(number)});
  return kept_.back().batch;
}

Tensor Trainer::output_for(const Batch& rows, std::int64_t number, std::size_t shard, Random& dropout) {
  if (!streams_) return answer(model_, task_, rows, &dropout);
  SequenceState& carried = carried_[shard];
  const bool begins = number % streams_->segments() == 0;
  auto [output, state] = model_.continued(rows.x, begins ? SequenceState() : carried, &dropout);
  if (model_.carries_state()) carried = state.detach();
  return output;
}

Tensor Trainer::topic_loss(const Batch& rows) const {
  return options().specialise * topic_information(*model_.trace(rows.x), topics_of(task_, rows));
}

Tensor Trainer::loss_of(std::int64_t number) {
  Random dropout = dropout_.stream(static_cast<std::uint64_t>(number));
  const Batch batch = drawn(number);
  const Tensor output = output_for(batch, number, 0, dropout);
  if (!at_full_task()) observe(graded_metric(output, batch.y, graded_rows(batch.size())));
  const Tensor loss = measured_loss(options().measures, task_, output, batch);
  return options().specialise == 0 ? loss : loss - topic_loss(batch);
}

ShardLoss Trainer::loss_of_shard(std::int64_t number, const Shard& shard) {
  Random dropout = dropout_.stream(static_cast<std::uint64_t>(number)).stream(static_cast<std::uint64_t>(shard.number));
  const Batch& batch = kept(number);
  const Batch rows = rows_of(batch, shard);
  const Tensor output = output_for(rows, number, static_cast<std::size_t>(shard.number), dropout);
  ShardLoss result;
  if (!at_full_task()) {
    const std::int64_t graded = graded_rows(batch.size()) - shard.begin(batch.size());
    result.weight = answers_in(task_, rows.part(0, std::clamp<std::int64_t>(graded, 0, rows.size())));
    if (result.weight > 0) result.metric = result.weight * graded_metric(output, rows.y, std::min(graded, rows.size()));
  }
  const double part = answers_in(task_, rows) / answers_in(task_, batch);
  if (part > 0) result.loss = part * measured_loss(options().measures, task_, output, rows);
  if (part > 0 && options().specialise != 0)
    result.loss = result.loss - static_cast<double>(rows.size()) / static_cast<double>(batch.size()) * topic_loss(rows);
  return result;
}

std::int64_t Trainer::graded_rows(std::int64_t rows) const {
  const Lesson& lesson = lessons_[static_cast<std::size_t>(curriculum_.lesson)];
  return static_cast<std::int64_t>(std::ceil(lesson.own * static_cast<double>(rows)));
}

double Trainer::graded_metric(const Tensor& output, const Tensor& target, std::int64_t rows) const {
  const NoTape unrecorded;
  const auto graded = [&](const Tensor& x) { return rows == x.dim(0) ? x : slice(x, {range(0, rows)}); };
  return task_metric(task_, graded(output), graded(target));
}

void Trainer::observe(double accuracy) {
  constexpr double weight = 0.02;
  if (at_full_task()) return;
  const Lesson& lesson = lessons_[static_cast<std::size_t>(curriculum_.lesson)];
  curriculum_.accuracy += weight * (accuracy - curriculum_.accuracy);
  if (curriculum_.accuracy > lesson.pass_at) curriculum_ = {curriculum_.lesson + 1, 0};
}

Evaluation Trainer::validate() const {
  return evaluate(model_, task_, Unseen::validation, options().seed, options().validation_samples, {},
                  options().measures, {.ranks = options().ranks});
}

Evaluation Trainer::test() const {
  return evaluate(model_, task_, Unseen::test, options().seed, options().test_samples, {}, options().measures,
                  {.ranks = options().ranks, .before_portion = [this] { leave_if_stopped(); }});
}

double Trainer::reference_loss() const {
  const Measures& own = options().measures;
  const double even = task_.kind() == TaskKind::classification ? std::log(static_cast<double>(task_.output_size()))
                                                               : task_.baselines().trivial;
  if (streams_ && !own.loss) return even;
  const std::optional<HeldOut> held_out = task_.held_out();
  const double start =
      held_out ? evaluate(model_, task_, first_portion(held_out->validation), {}, own).loss
               : evaluate(model_, task_, Unseen::validation, options().seed, evaluation_portion, {}, own).loss;
  return own.loss ? start : std::max(start, even);
}

std::vector<NamedTensor> Trainer::state() const {
  std::vector<NamedTensor> result = Training::state();
  for (std::size_t shard = 0; shard < carried_.size(); ++shard) {
    const std::string place = options().shards ? text("carried.", shard, ".") : "carried.";
    const Tensors& parts = carried_[shard].parts;
    for (std::size_t k = 0; k < parts.size(); ++k) result.push_back({text(place, k), parts[k]});
  }
  return result;
}

void Trainer::share_state() {
  Communicator* ranks = options().ranks;
  if (ranks == nullptr || carried_.empty()) return;
  for (int owner = 0; owner < ranks->size(); ++owner) {
    const OwnShards of = shards_of_rank(std::ssize(carried_), owner, ranks->size());
    for (std::int64_t shard = of.first; shard < of.last; ++shard)
      for (const Tensor& part : carried_[static_cast<std::size_t>(shard)].parts) share_values(*ranks, owner, part);
  }
}

void Trainer::resume(std::int64_t steps, const CurriculumState& curriculum) {
  Training::resume(steps, curriculum);
  curriculum_ = curriculum;
}

}  // namespace retrace
