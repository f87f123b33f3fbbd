#include <retrace/core/tape/tape.h>
#include <retrace/models/training/slot_specialisation.h>
#include <retrace/models/training/trainer.h>
#include <retrace/nn/module/module.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

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
  check_length(data, *options().batch, task_.sequence_length());
  streams_.emplace(data.training(), *options().batch, task_.sequence_length());
  if (!model_.carries_state()) return;
  // Tensors for a checkpoint to be copied into.
  const DtypeScope scope(weights().front().tensor.dtype());
  carried_ = model_.continued(streams_->segment(0).x, {}).state.detach();
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

std::pair<Batch, Tensor> Trainer::drawn(std::int64_t number, Random& dropout) const {
  Random random = batches_.stream(static_cast<std::uint64_t>(number));
  const auto lesson = static_cast<std::size_t>(curriculum_.lesson);
  Batch batch = (lesson < lessons_.size() ? *lessons_[lesson].task : task_).sample(random, *options().batch);
  Tensor output = answer(model_, task_, batch, &dropout);
  return {std::move(batch), std::move(output)};
}

std::pair<Batch, Tensor> Trainer::next_segment(std::int64_t number, Random& dropout) {
  const std::int64_t in_pass = number % streams_->segments();
  Batch segment = streams_->segment(in_pass);
  auto [output, state] = model_.continued(segment.x, in_pass == 0 ? SequenceState() : carried_, &dropout);
  if (model_.carries_state()) carried_ = state.detach();
  return {std::move(segment), std::move(output)};
}

Tensor Trainer::loss_of(std::int64_t number) {
  Random dropout = dropout_.stream(static_cast<std::uint64_t>(number));
  const auto [batch, output] = streams_ ? next_segment(number, dropout) : drawn(number, dropout);
  observe(output, batch.y);
  const Tensor loss = measured_loss(options().measures, task_, output, batch);
  if (options().specialise == 0) return loss;
  return loss - options().specialise * topic_information(*model_.trace(batch.x), topics_of(task_, batch));
}

void Trainer::observe(const Tensor& output, const Tensor& target) {
  constexpr double weight = 0.02;
  if (at_full_task()) return;
  const NoTape unrecorded;
  const Lesson& lesson = lessons_[static_cast<std::size_t>(curriculum_.lesson)];
  const std::int64_t count = output.dim(0);
  const auto own = static_cast<std::int64_t>(std::ceil(lesson.own * static_cast<double>(count)));
  const auto own_samples = [&](const Tensor& x) { return own == count ? x : slice(x, {range(0, own)}); };
  const double accuracy = task_metric(task_, own_samples(output), own_samples(target));
  curriculum_.accuracy += weight * (accuracy - curriculum_.accuracy);
  if (curriculum_.accuracy > lesson.pass_at) curriculum_ = {curriculum_.lesson + 1, 0};
}

Evaluation Trainer::validate() const {
  return evaluate(model_, task_, Unseen::validation, options().seed, options().validation_samples, {},
                  options().measures);
}

Evaluation Trainer::test() const {
  const SeePortion see = [this](const Batch&, const Tensor&) { leave_if_stopped(); };
  return evaluate(model_, task_, Unseen::test, options().seed, options().test_samples, see, options().measures);
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
  for (std::size_t k = 0; k < carried_.parts.size(); ++k) result.push_back({text("carried.", k), carried_.parts[k]});
  return result;
}

void Trainer::resume(std::int64_t steps, const CurriculumState& curriculum) {
  Training::resume(steps, curriculum);
  curriculum_ = curriculum;
}

}  // namespace retrace
