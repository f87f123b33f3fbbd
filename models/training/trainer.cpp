#include <retrace/models/training/trainer.h>

#include <retrace/core/tape.h>
#include <retrace/nn/clip.h>

#include <cmath>

namespace retrace {

Trainer::Trainer(const SequenceModel& model, const Task& task, const FitOptions& options)
    : model_(model),
      task_(task),
      batch_(options.batch),
      clip_(options.clip),
      learning_rate_{.base = options.learning_rate,
                     .warm_up = std::llround(options.warm_up * static_cast<double>(options.steps)),
                     .steps = options.steps},
      batches_(Random(options.seed).stream("batch")),
      adam_(model, {.b2 = options.b2}) {}

StepReport Trainer::step() {
  Random random = batches_.stream(static_cast<std::uint64_t>(step_));
  const Batch batch = task_.sample(random, batch_);
  StepReport report{.loss = 0, .gradient_norm = 0, .learning_rate = learning_rate_(step_)};
  Tape tape;
  const Tensor loss = task_loss(task_, model_(batch.x), batch.y);
  report.loss = loss.item();
  if (!std::isfinite(report.loss))
    throw ValueError(text("fit: the loss of step ", step_, " is ", report.loss, "; lower the learning rate"));
  tape.backward(loss);
  report.gradient_norm = clip_norm(model_, clip_);
  adam_.set_learning_rate(report.learning_rate);
  adam_.step();
  ++step_;
  return report;
}

}  // namespace retrace
