// The search for the settings by which a model learns a task.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <retrace/models/training/several_runs.h>

namespace retrace {

/// The choices of the search. Options that are given in `run` hold for every candidate.
struct TuneOptions {
  RunOptions run;  // task or text, model, budget of the last round (steps; if not given, those of the recipe)
  std::vector<double> learning_rates = {1e-2, 5e-3, 2e-3, 1e-3, 5e-4};
  std::vector<std::string> schedules = {"trapezoid", "cosine"};
  std::vector<double> scales = {1, 2};  // of the recipe's hidden and slot sizes
  std::int64_t rounds = 3;              // each with twice the steps of the one before
  /// Candidates on a plateau are not dropped after fewer steps: one that no candidate has left tells nothing about
  /// which of them will. If not given, half the steps of the last round.
  std::optional<std::int64_t> plateau_steps = {};
  TrainRuns train = spread_over(nullptr);  // of runs with names: "rate-0.002-trapezoid-scale-1-steps-2000"
};

/// The settings of a candidate.
struct Candidate {
  double learning_rate = 0;
  std::string schedule = {};
  double scale = 1;
};

/// A candidate's training in one round.
struct Trial {
  std::int64_t steps = 0;
  Evaluation validation = {};
  Evaluation test = {};
  double seconds = 0;
  bool on_plateau = false;   // no better than a wrong answer that the task names
  std::string failure = {};  // if it diverged
};

struct CandidateResult {
  Candidate candidate;
  RunOptions run;             // with every number
  std::vector<Trial> trials;  // one per round that it reached
};

struct Tuning {
  TuneOptions options;
  std::string metric;
  Baselines baselines;
  std::int64_t plateau_steps = 0;
  std::vector<std::int64_t> steps;       // of each round
  std::vector<CandidateResult> results;  // the best first: those of later rounds, by their validation there
};

/// Whether the metric is no better, within three standard errors of the validation samples (where less is better, a
/// twentieth), than the best wrong answer that the task's baselines name.
bool is_on_plateau(const Baselines& baselines, bool more_is_better, double metric, std::int64_t samples);

/// Successive halving: all candidates are trained for the steps of the first round, from their first step to the end of
/// their schedule, and the better half, by the validation metric (on a plateau, by the loss), goes on to the next
/// round, which has twice the steps; and so on. Candidates on a plateau stay until `plateau_steps`. Throws ValueError
/// if there is nothing to choose from, for fewer than one round, and what prepare() throws.
Tuning tune(const TuneOptions& options);

/// The table for a terminal, and the command that trains by the best settings.
std::string to_text(const Tuning& tuning);
/// One object: task, model, steps of the rounds and, for each candidate, its settings and trials.
std::string to_json(const Tuning& tuning);
/// `retrace train ...` by the best settings.
std::string best_command(const Tuning& tuning);

}  // namespace retrace
