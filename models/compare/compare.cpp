#include <retrace/models/compare/compare.h>
#include <retrace/models/model_info.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace retrace {
namespace {

constexpr std::uint64_t tuning_seed = 1'000'003;  // never one of the seeds that are compared

RunOptions options_of(const CompareOptions& options, const std::string& name) {
  RunOptions run = options.run;
  const std::size_t colon = name.find(':');
  run.model = name.substr(0, colon);
  if (colon != std::string::npos) run.memory = name.substr(colon + 1);
  return run;
}

std::int64_t size_of_model(const RunOptions& run, Match match) {
  const ModelInfo info = model_info(run);
  return match == Match::flops ? info.flops_a_sample : info.parameters;
}

/// Scales hidden and slot size together until the model is as large as the goal, as nearly as even sizes allow. Sizes
/// grow with the scale, so that halving an interval finds it.
void match_size(RunOptions& run, Match match, std::int64_t goal) {
  const std::int64_t hidden = run.hidden, slot_size = run.slot_size;
  const auto scaled = [&](std::int64_t quarter_steps) {
    RunOptions candidate = run;
    candidate.hidden = std::max<std::int64_t>(4, hidden * quarter_steps / 32 / 4 * 4);
    candidate.slot_size = std::max<std::int64_t>(4, slot_size * quarter_steps / 32 / 4 * 4);
    return candidate;
  };
  std::int64_t low = 1, high = 32 * 16;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (size_of_model(scaled(middle), match) <= goal ? low : high) = middle;
  }
  const auto miss = [&](std::int64_t at) { return std::abs(size_of_model(scaled(at), match) - goal); };
  run = scaled(miss(low) <= miss(high) ? low : high);
}

class Comparing {
 public:
  explicit Comparing(const CompareOptions& options) {
    if (options.models.empty()) throw ValueError("compare: there is no model; name one or more");
    if (options.seeds < 1)
      throw ValueError(text("compare: ", options.seeds, " seeds were asked for; ask for 1 or more"));
    comparison_.options = options;
    RunOptions first = prepare(options_of(options, options.models.front())).options;
    comparison_.options.run.hidden = first.hidden;  // the recipe's numbers in the place of zeros
    comparison_.options.run.slot_size = first.slot_size;
    comparison_.options.run.fit = first.fit;
    if (comparison_.options.learning_rates.empty()) comparison_.options.learning_rates = {first.fit.learning_rate};
    comparison_.task = prepare(first).task;
    const Yardsticks yardsticks = comparison_.task->yardsticks();
    comparison_.threshold =
        std::isnan(options.threshold) ? (yardsticks.trivial + yardsticks.ceiling) / 2 : options.threshold;
    for (const std::string& name : options.models) prepare(options_of(options, name));  // a wrong name is found at once
  }

  Comparison run() {
    std::int64_t goal = 0;
    for (const std::string& name : comparison_.options.models) {
      RunOptions run = options_of(comparison_.options, name);
      if (comparison_.options.match != Match::none) {
        if (goal == 0)
          goal = size_of_model(run, comparison_.options.match);
        else
          match_size(run, comparison_.options.match, goal);
      }
      add(name, run);
    }
    return std::move(comparison_);
  }

 private:
  void add(const std::string& name, RunOptions run) {
    const ModelInfo info = model_info(run);
    Contestant contestant{
        .name = name, .hidden = run.hidden, .parameters = info.parameters, .flops_a_sample = info.flops_a_sample};
    run.fit.learning_rate = contestant.learning_rate = choose_learning_rate(contestant, run);
    for (std::int64_t seed = 0; seed < comparison_.options.seeds; ++seed) {
      run.fit.seed = static_cast<std::uint64_t>(seed);
      comparison_.options.tell(text(name, ", seed ", seed));
      contestant.runs.push_back(trained(run));
      contestant.values.push_back(contestant.runs.back().test.metric);
      contestant.seconds += contestant.runs.back().seconds / static_cast<double>(comparison_.options.seeds);
      note_threshold(contestant, contestant.runs.back());
    }
    contestant.value = summarise(contestant.values);
    const Contestant& first = comparison_.contestants.empty() ? contestant : comparison_.contestants.front();
    contestant.against_first = summarise_differences(contestant.values, first.values);
    comparison_.contestants.push_back(std::move(contestant));
  }

  double choose_learning_rate(Contestant& contestant, RunOptions run) const {
    const std::vector<double>& rates = comparison_.options.learning_rates;
    if (rates.size() == 1) return rates.front();
    run.fit.seed = tuning_seed;
    for (const double rate : rates) {
      run.fit.learning_rate = rate;
      comparison_.options.tell(text(contestant.name, ", learning rate ", rate));
      contestant.tried.emplace_back(rate, validation_loss(run));
    }
    return std::min_element(contestant.tried.begin(), contestant.tried.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  /// Of a training; infinite for one that leaves the finite numbers.
  static double validation_loss(const RunOptions& run) {
    try {
      return trained(run).validation.loss;
    } catch (const ValueError&) {
      return std::numeric_limits<double>::infinity();
    }
  }

  static FitResult trained(const RunOptions& options) {
    Run run = prepare(options);
    train(run);
    return std::move(run.fit);
  }

  void note_threshold(Contestant& contestant, const FitResult& run) const {
    const bool lower_is_better = comparison_.task->kind() == TaskKind::regression;
    for (const Metrics& at : run.history) {
      if (lower_is_better ? at.validation.metric > comparison_.threshold : at.validation.metric < comparison_.threshold)
        continue;
      contestant.seconds_to_threshold.push_back(at.seconds);
      contestant.samples_to_threshold.push_back(static_cast<double>(at.step * samples_a_step()));
      return;
    }
  }
  std::int64_t samples_a_step() const {
    return comparison_.options.run.fit.batch * comparison_.options.run.fit.accumulate;
  }

  Comparison comparison_;
};

}  // namespace

Comparison compare(const CompareOptions& options) { return Comparing(options).run(); }

Plot learning_curves(const Comparison& comparison) {
  const FitOptions& fit = comparison.options.run.fit;
  Plot plot{.title = text("validation ", metric_name(comparison.task->kind()), " on ", comparison.task->name()),
            .x_label = "samples seen",
            .curves = {}};
  for (const Contestant& contestant : comparison.contestants) {
    std::size_t points = contestant.runs.front().history.size();  // a run that was stopped has fewer
    for (const FitResult& run : contestant.runs) points = std::min(points, run.history.size());
    Curve curve{.name = contestant.name, .x = {}, .y = {}};
    for (std::size_t point = 0; point < points; ++point) {
      std::vector<double> metrics;
      for (const FitResult& run : contestant.runs) metrics.push_back(run.history[point].validation.metric);
      curve.x.push_back(static_cast<double>(contestant.runs.front().history[point].step * fit.batch * fit.accumulate));
      curve.y.push_back(summarise(metrics).mean);
      curve.low.push_back(*std::min_element(metrics.begin(), metrics.end()));
      curve.high.push_back(*std::max_element(metrics.begin(), metrics.end()));
    }
    plot.curves.push_back(std::move(curve));
  }
  const Yardsticks yardsticks = comparison.task->yardsticks();
  plot.levels = {{std::string(yardsticks.trivial_answer), yardsticks.trivial}, {"best possible", yardsticks.ceiling}};
  return plot;
}

}  // namespace retrace
