#include <retrace/core/tape.h>
#include <retrace/models/training/optimizer_choice.h>
#include <retrace/models/training/trainer.h>
#include <retrace/nn/clip.h>
#include <retrace/ops/ops.h>

#include <cmath>

namespace retrace {

Trainer::Trainer(const SequenceModel& model, const Task& task, const FitOptions& options)
    : model_(model),
      task_(task),
      options_(options),
      batches_(Random(options.seed).stream("batch")),
      optimizer_(make_optimizer(model, options)) {
  if (options.curriculum) lessons_ = task.lessons();
}

StepReport Trainer::step() {
  const std::int64_t step = steps();
  StepReport report{.loss = 0, .gradient_norm = 0, .learning_rate = learning_rate_at(step, options_)};
  for (std::int64_t part = 0; part < options_.accumulate; ++part)
    report.loss += walk_back(step * options_.accumulate + part) / static_cast<double>(options_.accumulate);
  report.gradient_norm = clip_norm(model_, options_.clip);
  optimizer_->set_learning_rate(report.learning_rate);
  optimizer_->step();
  return report;
}

double Trainer::walk_back(std::int64_t number) {
  Random random = batches_.stream(static_cast<std::uint64_t>(number));
  const auto lesson = static_cast<std::size_t>(curriculum_.lesson);
  const Batch batch = (lesson < lessons_.size() ? *lessons_[lesson].task : task_).sample(random, options_.batch);
  Tape tape;
  const Tensor output = answer(model_, task_, batch.x);
  const Tensor loss = task_loss(task_, output, batch.y);
  const double value = loss.item();
  if (!std::isfinite(value)) {
    zero_grad(model_);
    throw ValueError(text("fit: the loss of step ", steps(), " is ", value, "; lower the learning rate or the clip"));
  }
  tape.backward(options_.accumulate == 1 ? loss : loss / static_cast<double>(options_.accumulate));
  observe(output, batch.y);
  return value;
}

void Trainer::observe(const Tensor& output, const Tensor& target) {
  constexpr double weight = 0.02;
  const auto lesson = static_cast<std::size_t>(curriculum_.lesson);
  if (at_full_task()) return;
  const NoTape unrecorded;
  curriculum_.accuracy += weight * (task_metric(task_, output, target) - curriculum_.accuracy);
  if (curriculum_.accuracy > lessons_[lesson].pass_at) curriculum_ = {curriculum_.lesson + 1, 0};
}

std::vector<NamedTensor> Trainer::state() const {
  std::vector<NamedTensor> result;
  for (const OptimizerSlot& slot : optimizer_->slots())
    result.insert(result.end(), slot.state.begin(), slot.state.end());
  return result;
}

void Trainer::resume(std::int64_t steps, const CurriculumState& curriculum) {
  optimizer_->resume(steps);
  curriculum_ = curriculum;
}

}  // namespace retrace
