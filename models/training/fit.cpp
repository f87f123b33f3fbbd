#include <retrace/models/json_lines.h>
#include <retrace/models/training/best_parameters.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/trainer.h>

#include <numeric>
#include <ostream>

namespace retrace {
namespace {

void check(const FitOptions& options) {
  const auto positive = [](auto value, const char* name) {
    if (!(value > 0)) throw ValueError(text("fit: ", name, " is ", value, "; it has to be above 0"));
  };
  positive(options.steps, "steps");
  positive(options.batch, "batch");
  positive(options.learning_rate, "learning_rate");
  positive(options.clip, "clip");
  positive(options.validate_every, "validate_every");
  positive(options.validation_samples, "validation_samples");
  positive(options.test_samples, "test_samples");
  if (!(options.warm_up >= 0 && options.warm_up <= 1))
    throw ValueError(text("fit: warm_up is ", options.warm_up, "; it is a part of the steps, from 0 to 1"));
  if (options.patience < 0)
    throw ValueError(text("fit: patience is ", options.patience, "; it counts validations, or is 0 for never"));
}

/// One training from its first step to its test.
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
    result_.losses.reserve(static_cast<std::size_t>(options.steps));
  }

  FitResult run() {
    while (trainer_.steps() < options_.steps) {
      const StepReport report = trainer_.step();
      result_.losses.push_back(report.loss);
      progress_.step(trainer_.steps(), report.loss);
      const bool due = trainer_.steps() % options_.validate_every == 0 || trainer_.steps() == options_.steps;
      if (due && !validate(report)) break;
    }
    progress_.finish();
    best_.restore();
    result_.steps = trainer_.steps();
    result_.best_step = best_.step();
    result_.validation = best_.validation();
    result_.test = evaluate(model_, task_, random_.stream("test"), options_.test_samples);
    result_.seconds = progress_.seconds();
    return std::move(result_);
  }

 private:
  /// False when patience has run out.
  bool validate(const StepReport& report) {
    const Evaluation validation = evaluate(model_, task_, random_.stream("validation"), options_.validation_samples);
    const double seconds = progress_.seconds();
    const auto steps = static_cast<double>(trainer_.steps() - window_start_);
    const double loss = std::accumulate(result_.losses.begin() + window_start_, result_.losses.end(), 0.0) / steps;
    const std::string_view metric = metric_name(task_.kind());
    if (options_.metrics != nullptr) {
      const double rate = steps * static_cast<double>(options_.batch) / (seconds - window_started_at_);
      *options_.metrics << to_json(Metrics{trainer_.steps(), loss, report, metric, validation, rate, seconds}) << std::endl;
    }
    progress_.validated(trainer_.steps(), loss, metric.data(), validation.metric);
    window_start_ = trainer_.steps();
    window_started_at_ = seconds;
    without_gain_ = best_.offer(trainer_.steps(), validation) ? 0 : without_gain_ + 1;
    return options_.patience == 0 || without_gain_ < options_.patience;
  }

  SequenceModel& model_;
  const Task& task_;
  const FitOptions& options_;
  Random random_;
  Trainer trainer_;
  BestParameters best_;
  Progress progress_;
  FitResult result_;
  std::int64_t window_start_ = 0;  // the first step since the last validation
  double window_started_at_ = 0;
  std::int64_t without_gain_ = 0;  // validations since the best one
};

}  // namespace

FitResult fit(SequenceModel& model, const Task& task, const FitOptions& options) {
  check(options);
  const DtypeScope scope(parameters(model).front().tensor.dtype());
  return Fitting(model, task, options).run();
}

}  // namespace retrace
