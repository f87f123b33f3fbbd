#include <retrace/core/storage.h>
#include <retrace/models/json_lines.h>
#include <retrace/models/training/best_parameters.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/optimizer_choice.h>
#include <retrace/models/training/trainer.h>

#include <cmath>
#include <filesystem>
#include <ostream>

namespace retrace {
namespace {

void check(const FitOptions& options) {
  const auto positive = [](auto value, const char* name) {
    if (!(value > 0)) throw ValueError(text("fit: ", name, " is ", value, "; it has to be above 0"));
  };
  positive(options.steps, "steps");
  positive(options.batch, "batch");
  positive(options.accumulate, "accumulate");
  positive(options.learning_rate, "learning_rate");
  positive(options.clip, "clip");
  positive(options.validate_every, "validate_every");
  positive(options.validation_samples, "validation_samples");
  positive(options.test_samples, "test_samples");
  if (!(options.warm_up >= 0 && options.warm_up <= 1))
    throw ValueError(text("fit: warm_up is ", options.warm_up, "; it is a part of the steps, from 0 to 1"));
  if (options.patience < 0)
    throw ValueError(text("fit: patience is ", options.patience, "; it counts validations, or is 0 for never"));
  if (!(options.minutes >= 0))
    throw ValueError(text("fit: minutes is ", options.minutes, "; it is a time, or 0 for as long as the steps take"));
  if (options.resume && options.checkpoint.empty())
    throw ValueError("fit: there is no checkpoint to resume from; say which file");
  learning_rate_at(options.steps, options);  // throws for a schedule that is not known
}

/// What a checkpoint must agree on with the training that goes on from it.
std::string description(const Task& task, const FitOptions& options) {
  return text(task.name(), ", seed ", options.seed, ", batch ", options.batch, " x ", options.accumulate, ", ",
              options.optimizer, ", learning rate ", options.learning_rate, " ", options.schedule, " over ",
              options.steps, " steps, warm-up ", options.warm_up, ", clip ", options.clip, ", b2 ", options.b2,
              ", weight decay ", options.weight_decay, options.curriculum ? ", curriculum" : "", ", validation every ",
              options.validate_every, " steps on ", options.validation_samples);
}

bool is_as_good(TaskKind kind, double metric, double target) {
  return kind == TaskKind::regression ? metric <= target : metric >= target;
}

/// One training from its first step, or a checkpoint, to its test.
class Fitting {
 public:
  Fitting(SequenceModel& model, const Task& task, const FitOptions& options)
      : model_(model),
        task_(task),
        options_(options),
        random_(options.seed),
        trainer_(model, task, options),
        best_(model),
        progress_(options.progress, options.steps) {
    if (options.resume && std::filesystem::exists(options.checkpoint)) resume();
    result_.losses.reserve(static_cast<std::size_t>(options.steps - trainer_.steps()));
  }

  FitResult run() {
    while (trainer_.steps() < options_.steps && !stopped()) step();
    if (!options_.checkpoint.empty()) checkpoint();
    progress_.finish();
    if (best_.step() > 0) best_.restore();
    result_.steps = trainer_.steps();
    result_.best_step = best_.step();
    result_.validation = best_.validation();
    result_.test = evaluate(model_, task_, random_.stream("test"), options_.test_samples);
    result_.seconds = seconds();
    return std::move(result_);
  }

 private:
  /// One update, and the validation that may be due after it.
  void step() {
    const StepReport report = trainer_.step();
    result_.losses.push_back(report.loss);
    standing_.window_loss += report.loss;
    ++standing_.window_steps;
    progress_.step(trainer_.steps(), report.loss);
    if (trainer_.steps() % options_.validate_every == 0 || trainer_.steps() == options_.steps) validate(report);
  }

  bool stopped() {
    if (options_.patience != 0 && standing_.without_gain >= options_.patience)
      result_.stopped_by = StopReason::patience;
    else if (best_.step() > 0 && is_as_good(task_.kind(), best_.validation().metric, options_.until))
      result_.stopped_by = StopReason::target;
    else if (options_.minutes > 0 && seconds() >= 60 * options_.minutes)
      result_.stopped_by = StopReason::minutes;
    else if (options_.stop != nullptr && options_.stop->load())
      result_.stopped_by = StopReason::signal;
    return result_.stopped_by != StopReason::steps;
  }

  void validate(const StepReport& report) {
    const Evaluation validation = evaluate(model_, task_, random_.stream("validation"), options_.validation_samples);
    const double now = seconds(), steps = static_cast<double>(standing_.window_steps);
    const double samples = steps * static_cast<double>(options_.batch * options_.accumulate);
    result_.history.push_back({.step = trainer_.steps(),
                               .loss = standing_.window_loss / steps,
                               .last_step = report,
                               .metric_name = metric_name(task_.kind()),
                               .validation = validation,
                               .samples_per_second = samples / (now - window_started_at_),
                               .seconds = now,
                               .memory_bytes = memory_stats().peak_bytes,
                               .lesson = trainer_.curriculum().lesson});
    const Metrics& metrics = result_.history.back();
    if (options_.metrics != nullptr) *options_.metrics << to_json(metrics) << std::endl;
    progress_.validated(metrics.step, metrics.loss, metrics.metric_name.data(), validation.metric);
    keep_if_best(metrics.step, validation);
    standing_.window_steps = 0;
    standing_.window_loss = 0;
    window_started_at_ = now;
    if (!options_.checkpoint.empty() && now - checkpoint_at_ >= options_.checkpoint_seconds) checkpoint();
  }

  /// What was best in an easier lesson says nothing of the full task: there, and at its first validation, the latest
  /// parameters are kept.
  void keep_if_best(std::int64_t step, const Evaluation& validation) {
    const bool comparable = trainer_.at_full_task() && standing_.best_lesson == trainer_.curriculum().lesson;
    if (!comparable) best_.take(step, validation);
    const bool gained = !comparable || best_.offer(step, validation);
    standing_.without_gain = gained ? 0 : standing_.without_gain + 1;
    standing_.best_lesson = trainer_.curriculum().lesson;
  }

  std::vector<NamedTensor> state() const {
    std::vector<NamedTensor> all;
    const auto add = [&all](const char* owner, const std::vector<NamedTensor>& tensors) {
      for (const NamedTensor& tensor : tensors) all.push_back({text(owner, ".", tensor.name), tensor.tensor});
    };
    add("model", parameters(model_));
    add("optimizer", trainer_.state());
    add("best", best_.state());
    return all;
  }

  void checkpoint() {
    standing_.step = trainer_.steps();
    standing_.curriculum = trainer_.curriculum();
    standing_.best_step = best_.step();
    standing_.best = best_.validation();
    standing_.seconds = checkpoint_at_ = seconds();
    save_checkpoint(options_.checkpoint, state(), standing_, description(task_, options_));
  }

  void resume() {
    standing_ = load_checkpoint(options_.checkpoint, state(), description(task_, options_));
    trainer_.resume(standing_.step, standing_.curriculum);
    best_.resume(standing_.best_step, standing_.best);
    progress_.resume(standing_.step);
    seconds_before_ = window_started_at_ = checkpoint_at_ = standing_.seconds;
  }

  double seconds() const { return seconds_before_ + progress_.seconds(); }

  SequenceModel& model_;
  const Task& task_;
  const FitOptions& options_;
  Random random_;
  Trainer trainer_;
  BestParameters best_;
  Progress progress_;
  Standing standing_;
  FitResult result_;
  double seconds_before_ = 0;  // a resume
  double window_started_at_ = 0;
  double checkpoint_at_ = 0;
};

}  // namespace

FitResult fit(SequenceModel& model, const Task& task, const FitOptions& options) {
  check(options);
  const std::vector<NamedTensor> weights = parameters(model);
  if (weights.empty()) throw ValueError("fit: the model has no parameters; name them in its visit()");
  const DtypeScope scope(weights.front().tensor.dtype());
  return Fitting(model, task, options).run();
}

}  // namespace retrace
