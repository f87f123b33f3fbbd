#include <retrace/core/base/subnormals.h>
#include <retrace/core/tensor/memory.h>
#include <retrace/models/training/best_parameters.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/ranks/same_training.h>
#include <retrace/models/training/run_description.h>
#include <retrace/models/training/trainer.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <ostream>

namespace retrace {
namespace {

/// One training from its first step, or a checkpoint, to its test.
class Fitting {
 public:
  explicit Fitting(Training& training)
      : training_(training),
        options_(training.options()),
        best_(training.weights()),
        progress_(writes() ? options_.progress : ProgressOptions(), *options_.steps, options_.minutes),
        description_(options_.checkpoint.empty() && options_.ranks == nullptr ? "" : run_description(training)) {
    if (options_.ranks != nullptr) check_same_training(*options_.ranks, description_, training.weights());
    if (options_.resume && of_first(options_.ranks, std::filesystem::exists(options_.checkpoint)))
      resume();
    else
      standing_.reference_loss = training_.reference_loss();  // of the weights before the first step
    result_.reference_loss = standing_.reference_loss;
    constexpr std::int64_t max_to_expect = 1 << 20;
    result_.losses.reserve(static_cast<std::size_t>(std::min(*options_.steps - training_.steps(), max_to_expect)));
  }

  FitResult run() {
    try {
      return run_to_its_end();
    } catch (const DivergenceError& error) {
      if (written_step_ < 0) throw;
      throw DivergenceError(
          text(error.what(), "; ", options_.checkpoint, " is the last good checkpoint, of step ", written_step_));
    }
  }

 private:
  FitResult run_to_its_end() {
    try {
      for (agree(); training_.steps() < options_.steps && !stopped(); agree()) step();
    } catch (const Stopped&) {  // by the step, which changed nothing
      result_.stopped_by = StopReason::signal;
    }
    if (!options_.checkpoint.empty()) {
      if (standing_.window_steps > 0) training_.check_weights();  // no validation has seen them
      checkpoint();
    }
    if (best_.step() == 0) take_last();
    best_.restore();
    result_.steps = training_.steps();
    result_.best_step = best_.step();
    result_.validation = best_.validation();
    result_.test = test();
    progress_.finish();
    result_.seconds = progress_.seconds();
    return std::move(result_);
  }

  /// Keeps the latest parameters, or their average, when the training ended before its first validation.
  void take_last() {
    std::optional<EmaScope> averaged;
    if (training_.average() != nullptr) averaged.emplace(*training_.average());
    best_.take(training_.steps(), best_.validation());
  }

  bool writes() const { return is_first(options_.ranks); }
  double seconds() const { return of_first(options_.ranks, progress_.seconds()); }

  /// How far the training is, and whether something from outside ends it: all ranks go by what rank 0 sees.
  void agree() {
    now_ = of_first(options_.ranks, Now{.seconds = progress_.seconds(),
                                        .part = progress_.part(training_.steps()),
                                        .signal = options_.stop != nullptr && options_.stop->load(),
                                        .callback = callback_stops_});
  }

  /// One update, and the validation that may be due after it.
  void step() {
    const bool last = training_.steps() + 1 == options_.steps;
    const bool validated = last || (training_.steps() + 1) % options_.validate_every == 0;
    const StepReport report = training_.step(scheduled_step(), validated && options_.watch_gradients);
    result_.losses.push_back(report.loss);
    standing_.window_loss += report.loss;
    ++standing_.window_steps;
    progress_.step(training_.steps(), report.loss);
    if (options_.on_step) act(options_.on_step({training_.steps(), report}));
    if (validated) validate(report);
  }

  void act(FitAction action) { callback_stops_ = callback_stops_ || action == FitAction::stop; }

  /// The step of the schedule from which the learning rate is taken. If time runs out before the steps do, it is the
  /// step at the same fraction of the training.
  std::int64_t scheduled_step() const {
    const double step = now_.part * static_cast<double>(*options_.steps);
    return std::max(training_.steps(), static_cast<std::int64_t>(step));
  }

  bool stopped() {
    if (options_.patience != 0 && standing_.without_gain >= options_.patience)
      result_.stopped_by = StopReason::patience;
    else if (best_.step() > 0 && is_as_good(best_.validation().metric))
      result_.stopped_by = StopReason::target;
    else if (options_.minutes > 0 && now_.seconds >= 60 * options_.minutes)
      result_.stopped_by = StopReason::minutes;
    else if (now_.signal)
      result_.stopped_by = StopReason::signal;
    else if (now_.callback)
      result_.stopped_by = StopReason::callback;
    return result_.stopped_by != StopReason::steps;
  }

  /// All NaN if a signal stopped the training or this test.
  Evaluation test() {
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    if (result_.stopped_by != StopReason::signal) {
      progress_.testing(training_.steps());
      try {
        return training_.test();
      } catch (const Stopped&) {
        result_.stopped_by = StopReason::signal;
      }
    }
    return {.loss = no_number, .metric = no_number};
  }

  bool is_as_good(double metric) const {
    if (!options_.until) return false;
    return training_.more_is_better() ? metric >= *options_.until : metric <= *options_.until;
  }

  void validate(const StepReport& report) {
    std::optional<EmaScope> averaged;
    if (training_.average() != nullptr) averaged.emplace(*training_.average());
    const Evaluation validation = training_.validate();
    training_.check_validation(validation);
    const double now = seconds(), steps = static_cast<double>(standing_.window_steps);
    const std::int64_t timed_steps = training_.steps() - window_started_at_step_;
    const double samples = static_cast<double>(timed_steps * *options_.batch * options_.accumulate);
    result_.history.push_back({.step = training_.steps(),
                               .loss = standing_.window_loss / steps,
                               .last_step = report,
                               .metric_name = training_.metric(),
                               .validation = validation,
                               .samples_per_second = samples / (now - window_started_at_),
                               .seconds = now,
                               .memory_bytes = memory_stats().peak_bytes,
                               .lesson = training_.curriculum().lesson});
    const Metrics& metrics = result_.history.back();
    if (options_.metrics != nullptr && writes()) write(metrics);
    progress_.validated(metrics.step, metrics.loss, metrics.metric_name.data(), validation.metric);
    keep_if_best(metrics.step, validation);
    if (options_.on_validation) act(options_.on_validation(metrics));
    averaged.reset();
    standing_.window_steps = 0;
    standing_.window_loss = 0;
    window_started_at_ = now;
    window_started_at_step_ = training_.steps();
    if (!options_.checkpoint.empty() && now - checkpoint_at_ >= options_.checkpoint_seconds) checkpoint();
  }

  /// Runs before the checkpoint that includes this validation, so that if the line cannot be written, a resumed
  /// training writes it.
  void write(const Metrics& metrics) const {
    *options_.metrics << to_json(metrics) << std::endl;
    if (!*options_.metrics)
      throw FileError(text("fit: the metrics of step ", metrics.step,
                           " cannot be written; resume from the checkpoint when their stream can be written again"));
  }

  /// The best parameters of an easier lesson mean nothing for the full task. So in lessons, and at the first validation
  /// of the full task, the latest parameters are kept.
  void keep_if_best(std::int64_t step, const Evaluation& validation) {
    const bool comparable = training_.at_full_task() && standing_.best_lesson == training_.curriculum().lesson;
    if (!comparable) best_.take(step, validation);
    const bool gained = !comparable || best_.offer(step, validation);
    standing_.without_gain = gained ? 0 : standing_.without_gain + 1;
    standing_.best_lesson = training_.curriculum().lesson;
  }

  std::vector<NamedTensor> state() const {
    std::vector<NamedTensor> all;
    const auto add = [&all](const char* owner, const std::vector<NamedTensor>& tensors) {
      for (const NamedTensor& tensor : tensors) all.push_back({text(owner, ".", tensor.name), tensor.tensor});
    };
    add("model", training_.weights());
    add("optimizer", training_.state());
    add("best", best_.state());
    return all;
  }

  void checkpoint() {
    standing_.step = training_.steps();
    standing_.curriculum = training_.curriculum();
    standing_.best_step = best_.step();
    standing_.best = best_.validation();
    standing_.seconds = checkpoint_at_ = seconds();
    training_.share_state();
    if (options_.before_checkpoint && writes()) options_.before_checkpoint();
    if (writes()) save_checkpoint(options_.checkpoint, state(), standing_, description_, options_.model);
    written_step_ = standing_.step;
  }

  void resume() {
    if (writes()) standing_ = load_checkpoint(options_.checkpoint, state(), description_, options_.model);
    standing_ = of_first(options_.ranks, standing_);
    if (options_.ranks != nullptr)
      for (const NamedTensor& each : state()) share_values(*options_.ranks, 0, each.tensor);
    training_.resume(standing_.step, standing_.curriculum);
    best_.resume(standing_.best_step, standing_.best);
    progress_.resume(standing_.step, standing_.seconds);
    window_started_at_ = checkpoint_at_ = standing_.seconds;
    window_started_at_step_ = written_step_ = standing_.step;
  }

  Training& training_;
  const FitOptions& options_;
  BestParameters best_;
  Progress progress_;
  const std::string description_;  // for checkpoints; once, as it reads all samples of finite data
  struct Now {
    double seconds = 0, part = 0;
    bool signal = false, callback = false;
  } now_;
  TrainingState standing_;
  FitResult result_;
  bool callback_stops_ = false;
  double window_started_at_ = 0;  // seconds
  std::int64_t window_started_at_step_ = 0;
  double checkpoint_at_ = -std::numeric_limits<double>::infinity();  // the first validation writes one
  std::int64_t written_step_ = -1;                                   // of the checkpoint; -1: there is none
};

}  // namespace

bool FitResult::diverged() const {
  if (history.empty()) return false;
  constexpr std::int64_t unsettled_steps = 200;  // in which the first large updates may throw a sane training far off
  const double far_above = history.back().step < unsettled_steps ? 1000 : 2;
  return std::min(history.back().loss, history.back().validation.loss) > far_above * reference_loss;
}

FitResult fit(Training& training) {
  if (training.weights().empty()) throw ValueError("fit: the model has no parameters; name them in its visit()");
  const DtypeScope scope(training.weights().front().tensor.dtype());
  const SubnormalsScope flushed(Subnormals::flushed);
  return Fitting(training).run();
}

FitResult fit(SequenceModel& model, const Task& task, const FitOptions& options) {
  Trainer trainer(model, task, options);
  return fit(trainer);
}

}  // namespace retrace
