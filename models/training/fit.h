// Trains a model on a task, or any other Training.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include <retrace/models/training/training.h>

namespace retrace {

/// Why a training ended, and its name in reports.
enum class StopReason { steps, patience, minutes, target, signal, callback };
constexpr std::string_view name_of(StopReason reason) {
  constexpr std::string_view names[] = {"steps", "patience", "minutes", "target", "signal", "callback"};
  return names[static_cast<int>(reason)];
}

/// The result of a training.
struct FitResult {
  std::int64_t steps = 0;      // including those before a resume
  std::int64_t best_step = 0;  // after which the parameters were best, or without a validation the last one: those
                               // that the model has now
  double seconds = 0;
  StopReason stopped_by = StopReason::steps;
  Evaluation validation;         // of the best parameters, on the validation samples; the loss is infinite without one
  Evaluation test;               // of the best parameters, on fresh samples; NaN if a signal stopped it
  std::vector<double> losses;    // per step since the start or the resume
  std::vector<Metrics> history;  // per validation since then
  /// See Training::reference_loss.
  double reference_loss = std::numeric_limits<double>::quiet_NaN();

  /// Whether the loss grew instead of falling, though every number stayed finite: in the last steps, and in the last
  /// validation, it was more than twice the reference loss; after fewer than 200 steps, more than a thousand times,
  /// since a sane training may take some to recover from its first updates. (Only in the last steps, it may be a batch
  /// of few samples; only in the validation, a model that overfits.) False without a validation or a reference.
  bool diverged() const;
};

/// Updates the parameters from batches drawn on the fly, with clipped gradients. Every `validate_every` steps, and
/// after the last of `steps`, the loss on a fixed set of samples of the full task is measured; the parameters of the
/// lowest loss are restored at the end and tested on a held-out test set.
///
/// Batches, dropout, and validation and test samples that the task does not hold out itself, come from separate streams
/// of the seed, and a batch and its dropout depend only on the seed and the step. Validation and test drop nothing. So
/// the same seed gives the same losses bit for bit, on any number of threads, and a training that was stopped at any
/// step and resumed from its checkpoint ends with the same bits as an uninterrupted one. The batches have the dtype of
/// the model; subnormal numbers count as 0 (core/base/subnormals.h). A training that `stop` ends is not tested, and a
/// test in progress is abandoned. Throws ValueError for invalid options, a model without parameters and a checkpoint of
/// another training; DivergenceError for a loss or a gradient that is not finite (the last checkpoint is then left as
/// it was); and FileError for a checkpoint that cannot be read or written and for metrics that cannot be written (the
/// last checkpoint then precedes them).
FitResult fit(SequenceModel& model, const Task& task, const FitOptions& options = {});

/// Trains anything else, with the options with which it was made.
FitResult fit(Training& training);

}  // namespace retrace
