// Several models on one task, as fairly as possible: the same batches, the same budget, the same choice of learning
// rates.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <retrace/models/reports/comparison/statistics.h>
#include <retrace/models/reports/plots/plot.h>
#include <retrace/models/training/several_runs.h>

namespace retrace {

/// The quantity in which the sizes of the models are matched to the first one, as far as possible: none, the number of
/// parameters, or the floating-point operations per sample.
enum class Match { none, parameters, flops };

struct CompareOptions {
  RunOptions run;  // task, sizes of the first model, form and memory of the models that have these options, budget
                   // (steps, minutes), everything but the model
  /// With "relational-rnn:gated" for a memory other than the cell's, and with "rmc@0.002" for a learning rate of its
  /// own.
  std::vector<std::string> models;
  std::int64_t seeds = 3;
  Match match = Match::none;
  /// Learning rates to try with a separate seed; the one of the lowest validation loss is used. A single rate is used
  /// untried; none stands for that of each model's recipe.
  std::vector<double> learning_rates;
  /// The metric to be reached; if not given, halfway from the trivial answer to the best possible (of a text, 0).
  std::optional<double> threshold = {};
  /// Called with each remark about the data.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
  TrainRuns train = spread_over(nullptr);  // of runs with names of model and seed: "lstm-seed-0"
};

/// An entry of the comparison: a model with its sizes, and its name.
struct Entry {
  std::string name;
  RunOptions run;
  std::optional<double> learning_rate = {};  // if given, the only one that is tried
};

/// One model's runs.
struct ModelResult {
  std::string name;
  std::int64_t hidden = 0, parameters = 0, flops_a_sample = 0;
  ModelForm form = {};
  double learning_rate = 0;
  std::string optimizer = {};
  std::string schedule = {};
  std::vector<std::pair<double, double>> tried = {};  // learning rate, validation loss
  std::vector<FitResult> runs = {};                   // one per seed
  std::vector<double> values = {};                    // their test metrics
  std::vector<double> of_first = {};                  // the test metrics of the first model for the same seeds
  std::vector<std::string> failures = {};             // of the seeds whose training diverged
  Summary value = {};
  Summary against_first = {};                     // the differences to the first model, seed by seed
  double seconds = 0;                             // of a run, on average
  std::vector<double> seconds_to_threshold = {};  // of the runs that reached it ...
  std::vector<double> samples_to_threshold = {};  // ... and the samples that it took
};

struct Comparison {
  CompareOptions options;
  std::optional<Run> run;  // of the first model, not trained: its task, metric and baselines
  double threshold = 0;
  std::vector<ModelResult> results;
};

/// Trains every model with every seed. Batches depend on the seed and the step alone, so that all models see the same
/// samples in the same order. A run that diverges is noted and left out; if it is one of the first model,
/// DivergenceError is thrown. Throws ValueError for an unknown name, no model, a model twice, fewer than one seed.
Comparison compare(const CompareOptions& options);
/// Compares `entries` with their own sizes instead of options.models. All have the budget of options.run.
Comparison compare(const CompareOptions& options, const std::vector<Entry>& entries);

/// The metric by samples seen: the mean over the seeds, with the band from the lowest to the highest.
Plot learning_curves(const Comparison& comparison);
/// A self-contained page: budget and tuning in words, the table, the curves.
std::string to_html(const Comparison& comparison);
/// The table for a terminal.
std::string to_text(const Comparison& comparison);

/// One object: the task, the budget and, for each model, its sizes, metrics and times.
std::string to_json(const Comparison& comparison);

}  // namespace retrace
