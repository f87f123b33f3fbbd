// Several models on one task, as fairly as can be: the same batches, the same budget, the same choice of learning
// rates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <retrace/models/reports/comparison/statistics.h>
#include <retrace/models/reports/plots/plot.h>
#include <retrace/models/training/run.h>

namespace retrace {

/// What the models are made equal in, as far as their sizes allow, to the first one: nothing, the number of parameters,
/// or the floating-point operations of a sample.
enum class Match { none, parameters, flops };

struct CompareOptions {
  RunOptions run;                   // task, sizes of the first model, budget (steps, minutes), everything but the model
  std::vector<std::string> models;  // with "relational-rnn:gated" for a memory other than the cell's
  std::int64_t seeds = 3;
  Match match = Match::none;
  /// Tried on a seed of their own; the one with the lowest validation loss is taken. One rate is taken untried.
  std::vector<double> learning_rates;
  /// The metric to be reached; if not given, halfway from the trivial answer to the best possible.
  std::optional<double> threshold = {};
};

/// What is compared: a model with its sizes, and what to call it.
struct Entry {
  std::string name;
  RunOptions run;
};

/// One model's runs.
struct ModelResult {
  std::string name;
  std::int64_t hidden = 0, parameters = 0, flops_a_sample = 0;
  double learning_rate = 0;
  std::vector<std::pair<double, double>> tried = {};  // learning rate, validation loss
  std::vector<FitResult> runs = {};                   // a seed each
  std::vector<double> values = {};                    // their test metrics
  std::vector<std::string> failures = {};             // of the seeds whose loss left the finite numbers
  Summary value = {};
  Summary against_first = {};                     // the differences to the first model, seed by seed
  double seconds = 0;                             // of a run, on the average
  std::vector<double> seconds_to_threshold = {};  // of the runs that reached it ...
  std::vector<double> samples_to_threshold = {};  // ... and the samples that it took
};

struct Comparison {
  CompareOptions options;
  std::unique_ptr<Task> task;
  double threshold = 0;
  std::vector<ModelResult> results;
};

/// Trains every model with every seed. Batches depend on the seed and the step alone, so that all models see the same
/// samples in the same order. A run whose loss leaves the finite numbers is noted and left out, but for one of the
/// first model: that throws. Throws ValueError for an unknown name, no model, fewer than one seed.
Comparison compare(const CompareOptions& options);
/// The same of entries in the place of options.models, of the sizes that they have. Their budgets are equal: that of
/// options.run.
Comparison compare(const CompareOptions& options, const std::vector<Entry>& entries);

/// The metric by samples seen: the mean over the seeds, with the band from the lowest to the highest.
Plot learning_curves(const Comparison& comparison);
/// A page that needs nothing else: budget and tuning in words, the table, the curves.
std::string to_html(const Comparison& comparison);
/// The table for a terminal.
std::string to_text(const Comparison& comparison);

/// One object: the task, the budget and, for each model, its sizes, metrics and times.
std::string to_json(const Comparison& comparison);

}  // namespace retrace
