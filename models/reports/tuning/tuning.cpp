#include <retrace/models/reports/tuning/tuning.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace retrace {
namespace {

/// `run`, whose sizes are multiplied by the scale where none were given; slots stay divisible by the heads.
RunOptions scaled(RunOptions run, const SizeOptions& given, double scale) {
  const auto times = [scale](std::int64_t size, std::int64_t multiple) {
    const double steps = scale * static_cast<double>(size) / static_cast<double>(multiple);
    return std::max<std::int64_t>(1, std::llround(steps)) * multiple;
  };
  SizeOptions& sizes = run.model.sizes;
  if (sizes.hidden && !given.hidden) sizes.hidden = times(*sizes.hidden, 4);
  if (sizes.slot_size && !given.slot_size) sizes.slot_size = times(*sizes.slot_size, sizes.heads.value_or(1));
  return run;
}

/// `filled` has the recipe's numbers where options.run has none.
std::vector<CandidateResult> candidates_of(const TuneOptions& options, const RunOptions& filled) {
  const FitOptions& given = options.run.fit;
  const auto rates = given.learning_rate ? std::vector{*given.learning_rate} : options.learning_rates;
  const auto schedules = given.schedule ? std::vector{*given.schedule} : options.schedules;
  std::vector<CandidateResult> candidates;
  for (const double scale : options.scales) {
    if (!(scale > 0)) throw ValueError(text("tune: the scale ", scale, " is not above 0"));
    for (const std::string& schedule : schedules)
      for (const double rate : rates) {
        RunOptions run = scaled(filled, options.run.model.sizes, scale);
        run.fit.learning_rate = rate;
        run.fit.schedule = schedule;
        check_options(run.fit);
        candidates.push_back({{rate, schedule, scale}, std::move(run), {}});
      }
  }
  if (candidates.empty()) throw ValueError("tune: there is nothing to choose from; give rates, schedules and scales");
  return candidates;
}

std::vector<std::int64_t> steps_of_rounds(std::int64_t rounds, std::int64_t last) {
  if (rounds < 1 || rounds > 20) throw ValueError(text("tune: ", rounds, " rounds were asked for; ask for 1 to 20"));
  if (last == no_limit) throw ValueError("tune: rounds are counted in steps; give --steps instead of --minutes");
  std::vector<std::int64_t> steps;
  for (std::int64_t round = rounds; round-- > 0;) steps.push_back(std::max<std::int64_t>(1, last >> round));
  return steps;
}

/// Whether the last trial of a ended better than that of b: off a plateau by the metric, otherwise by the loss.
bool is_better(const CandidateResult& a, const CandidateResult& b, bool more_is_better) {
  if (a.trials.size() != b.trials.size()) return a.trials.size() > b.trials.size();
  const Trial &of_a = a.trials.back(), &of_b = b.trials.back();
  if (of_a.failure.empty() != of_b.failure.empty()) return of_a.failure.empty();
  if (of_a.on_plateau != of_b.on_plateau) return of_b.on_plateau;
  const double sign = more_is_better ? -1 : 1;
  const double metric_a = sign * of_a.validation.metric, metric_b = sign * of_b.validation.metric;
  if (!of_a.on_plateau && metric_a != metric_b) return metric_a < metric_b;
  return of_a.validation.loss < of_b.validation.loss;
}

NamedRun run_of(const CandidateResult& result, std::int64_t steps) {
  const Candidate& candidate = result.candidate;
  NamedRun run{.name = text("rate-", candidate.learning_rate, "-", candidate.schedule, "-scale-", candidate.scale,
                            "-steps-", steps),
               .options = result.run};
  run.options.fit.steps = steps;
  run.options.fit.progress.title =
      text("rate ", candidate.learning_rate, ", ", candidate.schedule, ", scale ", candidate.scale);
  return run;
}

Trial trial_of(const RunResult& result, const Tuning& tuning, const Run& first, std::int64_t steps) {
  if (!result.divergence.empty()) return {.steps = steps, .failure = result.divergence};
  const FitResult& fit = result.fit;
  Trial trial{.steps = steps, .validation = fit.validation, .test = fit.test, .seconds = fit.seconds};
  if (fit.diverged()) trial.failure = text("the loss grew to ", fit.history.back().loss);
  trial.on_plateau = is_on_plateau(tuning.baselines, more_is_better(first.task->metric()), fit.validation.metric,
                                   first.validation_samples());
  return trial;
}

/// Trains the first `alive` candidates.
void add_round(Tuning& tuning, std::ptrdiff_t alive, const Run& first, std::int64_t steps) {
  std::vector<NamedRun> runs;
  for (auto result = tuning.results.begin(); result != tuning.results.begin() + alive; ++result)
    runs.push_back(run_of(*result, steps));
  const std::vector<RunResult> trained = tuning.options.train(runs);
  for (std::size_t k = 0; k < trained.size(); ++k)
    tuning.results[k].trials.push_back(trial_of(trained[k], tuning, first, steps));
}

}  // namespace

bool is_on_plateau(const Baselines& baselines, bool more_is_better, double metric, std::int64_t samples) {
  const auto better = [=](double a, double b) { return more_is_better ? std::max(a, b) : std::min(a, b); };
  double wrong = better(baselines.trivial, baselines.chance);
  for (const Baselines::Shortcut& shortcut : baselines.shortcuts) wrong = better(wrong, shortcut.value);
  if (!more_is_better) return metric >= 0.95 * wrong;
  return metric <= wrong + 3 * std::sqrt(wrong * (1 - wrong) / static_cast<double>(samples));
}

Tuning tune(const TuneOptions& options) {
  const Run first = prepare(options.run);
  const Metric metric = first.task->metric();
  Tuning tuning{.options = options,
                .metric = std::string(name_of(metric)),
                .baselines = first.task->baselines(),
                .steps = steps_of_rounds(options.rounds, *first.options.fit.steps),
                .results = candidates_of(options, first.options)};
  tuning.plateau_steps = options.plateau_steps.value_or(tuning.steps.back() / 2);
  const auto before = [metric](const CandidateResult& a, const CandidateResult& b) {
    return is_better(a, b, more_is_better(metric));
  };
  auto alive = static_cast<std::ptrdiff_t>(tuning.results.size());
  for (const std::int64_t steps : tuning.steps) {
    add_round(tuning, alive, first, steps);
    std::stable_sort(tuning.results.begin(), tuning.results.begin() + alive, before);
    const auto half = tuning.results.begin() + (alive + 1) / 2;
    const auto stays = [&](const CandidateResult& result) {
      return steps < tuning.plateau_steps && result.trials.back().on_plateau;
    };
    alive = std::stable_partition(half, tuning.results.begin() + alive, stays) - tuning.results.begin();
  }
  std::stable_sort(tuning.results.begin(), tuning.results.end(), before);
  return tuning;
}

}  // namespace retrace
