#include <retrace/models/training/fit_bytes.h>
#include <retrace/models/training/ranks/jobs.h>
#include <retrace/models/training/ranks/same_training.h>
#include <retrace/models/training/several_runs.h>

#include <utility>

namespace retrace {
namespace {

void check_same_runs(const std::vector<NamedRun>& runs, Communicator& ranks) {
  const Run first = prepare(runs.front().options);
  std::string settings = text("data ", first.task->fingerprint());
  for (const NamedRun& run : runs) settings += ", run " + run.name;
  check_same_training(ranks, settings, parameters(*first.model));
}

std::string trained(const NamedRun& run, const TrainRun& train) {
  try {
    return "+" + to_bytes(train(run.options, run.name));
  } catch (const DivergenceError& error) {
    if (!run.may_diverge) throw;
    return text("-", error.what());
  }
}

RunResult result_of(const std::string& bytes, const Measures& measures) {
  std::string rest = bytes.substr(1);
  if (bytes.front() == '-') return {.divergence = std::move(rest)};
  RunResult result{.fit = fit_result_from_bytes(rest)};
  if (measures.metric)
    for (Metrics& metrics : result.fit.history) metrics.metric_name = measures.metric_name;
  return result;
}

}  // namespace

FitResult train_anew(const RunOptions& options, const std::string&) {
  Run run = prepare(options);
  run.train();
  if (run.fit.stopped_by == StopReason::signal) throw Stopped();
  return std::move(run.fit);
}

TrainRuns spread_over(Communicator* ranks, TrainRun train) {
  return [ranks, train = std::move(train)](const std::vector<NamedRun>& runs) {
    if (ranks != nullptr && !runs.empty()) check_same_runs(runs, *ranks);
    const auto job = [&](std::int64_t number) -> std::optional<std::string> {
      try {
        return trained(runs[static_cast<std::size_t>(number)], train);
      } catch (const Stopped&) {
        return std::nullopt;
      }
    };
    const auto results = results_of_jobs(std::ssize(runs), job, ranks);
    if (!results) throw Stopped();
    std::vector<RunResult> of_runs;
    for (std::size_t k = 0; k < runs.size(); ++k)
      of_runs.push_back(result_of((*results)[k], runs[k].options.fit.measures));
    return of_runs;
  };
}

}  // namespace retrace
