// The effect of each part of a relational memory: a model and its variations, in which one factor is changed, trained
// alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <retrace/models/reports/comparison/comparison.h>

namespace retrace {

struct AblateOptions {
  RunOptions run;  // the baseline, of a model with a relational memory
  std::int64_t seeds = 3;
  /// The factors to change, of memory_choices(); empty: all that the model has.
  std::vector<std::string> factors = {};
  /// Called with a line about each setting that is left out, and as CompareOptions::tell.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
  TrainRuns train = spread_over(nullptr);  // as CompareOptions::train
};

/// A model to be trained, and how it differs from the baseline.
struct Variation {
  std::string factor;   // "baseline" for the baseline itself
  std::string setting;  // "8", "none", "off"; for the baseline, all of them
  RunOptions run;       // with the recipe's numbers where none were chosen
};
struct Variations {
  std::vector<Variation> kept;        // the baseline first
  std::vector<std::string> left_out;  // a line per setting and per factor that the model cannot have
};

/// The baseline and, one factor at a time, every other setting of it: heads 1, 2, 4, 8; slots 1, half and twice the
/// baseline's; every gate; residual, layer-norm and attention-mlp on or off; key-size half and
/// twice the baseline's; mlp-layers 1 to 3; every variant. Throws ValueError, with the nearest right
/// name, for a model without a relational memory and for a factor that it does not have; also what prepare() throws.
Variations variations_of(const AblateOptions& options);

struct Ablation {
  Variations variations;
  Comparison comparison;  // its results are the variations, in their order
};

/// Trains every variation with every seed, as compare() does: the same batches, the same budget.
Ablation ablate(const AblateOptions& options);

/// Per factor, the learning curves of its settings and of the baseline.
std::vector<Plot> learning_curves(const Ablation& ablation);
/// A self-contained page: the curves, the table, budget and settings in words.
std::string to_html(const Ablation& ablation);
/// The table for a terminal.
std::string to_text(const Ablation& ablation);
/// One object: task, model, memory, metric, seeds, steps, batch, left_out and, for each variation, factor, setting,
/// parameters, operations, the metric of every seed, mean, deviation and differences from the baseline, seconds.
std::string to_json(const Ablation& ablation);

}  // namespace retrace
