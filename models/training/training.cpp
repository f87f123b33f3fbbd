#include <retrace/core/tape/tape.h>
#include <retrace/core/trace/timeline.h>
#include <retrace/models/training/gradient_norms.h>
#include <retrace/models/training/not_finite.h>
#include <retrace/models/training/optimizer_choice.h>
#include <retrace/models/training/training.h>
#include <retrace/nn/optim/clip.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace retrace {

Training::Training(std::vector<NamedTensor> weights, const FitOptions& options)
    : weights_(std::move(weights)), options_(with_recipe(options, fit_recipe)) {
  check_options(options);
  if (options.resume && options.checkpoint.empty())
    throw ValueError("fit: there is no checkpoint to resume from; say which file");
  for (const NamedTensor& weight : weights_) tensors_.push_back(weight.tensor);
  optimizer_ = make_optimizer(weights_, options_);
  if (options_.average != 0) average_.emplace(weights_, EmaOptions{.decay = options_.average, .rising = true});
}

StepReport Training::step(std::int64_t scheduled, bool report_layers) {
  return step_at(learning_rate_at(scheduled, options_), report_layers);
}

StepReport Training::step_at(double learning_rate, bool report_layers) {
  const TimelineSpan span("step");
  StepReport report{.loss = 0, .gradient_norm = 0, .learning_rate = learning_rate};
  mark();
  try {
    report.loss = options_.shards ? walk_back_in_shards() : walk_back_in_batches();
  } catch (const Stopped&) {
    rewind();
    throw;
  }
  check_finite("loss of step", report.loss);
  if (report_layers) report.gradient_norms = gradient_norms(weights_);
  report.gradient_norm = clip_norm(tensors_, options_.clip);
  check_finite("gradient norm of step", report.gradient_norm);
  observe_shards();
  const TimelineSpan update("update");
  optimizer_->scale_learning_rates(learning_rate);  // it was made with the rates of the groups
  optimizer_->step();
  if (average_) average_->update();
  return report;
}

Tensor Training::recorded_loss_of(std::int64_t batch) {
  const TimelineSpan span("forward");
  return loss_of(batch);
}

double Training::walk_back_in_batches() {
  double loss = 0;
  for (std::int64_t part = 0; part < options_.accumulate; ++part)
    loss += walk_back(steps() * options_.accumulate + part) / static_cast<double>(options_.accumulate);
  return loss;
}

double Training::walk_back(std::int64_t batch) {
  Tape tape;
  const Tensor loss = recorded_loss_of(batch);
  const double value = loss.item();
  const TimelineSpan span("backward");
  if (std::isfinite(value))
    tape.backward(options_.accumulate == 1 ? loss : loss / static_cast<double>(options_.accumulate));
  return value;
}

void Training::check_finite(const char* what, double value) {
  if (std::isfinite(value)) return;
  // Before the first step, no learning rate has changed anything yet.
  const char* remedy = steps() == 0 ? "; no step was made yet, so look at the data and at how the weights begin"
                                    : "; lower the learning rate or the clip";
  throw DivergenceError(text("fit: the ", what, " ", steps(), " is ", value, ": ", what_is_not_finite(), remedy));
}

void Training::check_validation(const Evaluation& validation) {
  mark();
  check_finite("validation loss after step", validation.loss);
}

void Training::check_weights() {
  mark();
  double loss = 0;
  {
    const NoTape unrecorded;
    if (options_.shards)
      loss = loss_of_step(sum_of_shards(Walk::forward));
    else
      for (std::int64_t part = 0; part < options_.accumulate; ++part)
        loss += loss_of(steps() * options_.accumulate + part).item();
  }
  rewind();
  check_finite("loss after step", loss);
}

std::string Training::what_is_not_finite() {
  rewind();
  share_state();
  discard_gradients();
  std::optional<NotFinite> found;
  const std::int64_t shards = options_.shards.value_or(1), parts = options_.accumulate;
  try {
    for (std::int64_t k = 0; k < shards * parts && !found; ++k) {
      Tape tape({.keep = true});
      const std::int64_t batch = steps() * parts + k % parts;
      const Tensor loss = options_.shards ? loss_of_shard(batch, {k / parts, shards}).loss : loss_of(batch);
      found = first_not_finite(tape, loss / static_cast<double>(parts), names());
    }
  } catch (const std::bad_alloc&) {
    discard_gradients();
    return "there is too little memory to look for the record where it began";
  }
  discard_gradients();
  return found ? to_text(*found) : "every record of the same batches is finite by itself";
}

void Training::discard_gradients() const {
  for (const Tensor& tensor : tensors_) tensor.zero_grad();
}

Names Training::names() const {
  Names names;
  for (const NamedTensor& weight : weights_) names.add(weight.tensor, weight.name);
  return names;
}

void Training::leave_if_stopped() const {
  if (of_first(options_.ranks, is_stopped())) throw Stopped();
}

std::vector<NamedTensor> Training::state() const {
  std::vector<NamedTensor> result;
  for (const OptimizerSlot& slot : optimizer_->slots())
    result.insert(result.end(), slot.state.begin(), slot.state.end());
  if (average_)
    for (const NamedTensor& of : average_->averages()) result.push_back({"average." + of.name, of.tensor});
  return result;
}

void Training::resume(std::int64_t steps, const CurriculumState&) {
  optimizer_->resume(steps);
  if (average_) average_->resume(steps);
}

}  // namespace retrace
