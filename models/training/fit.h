// Trains a model on a task, or any other Training.
#pragma once

#include <atomic>
#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/base/error.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/metrics.h>
#include <retrace/models/training/progress.h>

namespace retrace {

/// The parameters whose names contain `names`, and how they are trained: at `rate` times the learning rate of the step,
/// and with a weight decay of their own.
struct FitGroup {
  std::string names = {};
  double rate = 1;
  std::optional<double> weight_decay = {};  // if not given, FitOptions::weight_decay
};

/// An entry of a file's metadata from which a model can be made again: its name (empty: there is none), and its JSON.
struct ModelDescription {
  std::string entry = {};
  std::string json = {};
};

/// What a callback wants.
enum class FitAction { go_on, stop };
/// An update, as a callback sees it.
struct FitStep {
  std::int64_t step = 0;  // the number of updates so far
  const StepReport& report;
};

/// Where steps, batch, optimiser, learning rate, schedule and b2 are not given, with_recipe() gives them: for a run by
/// name by the task's recipe, otherwise by fit_recipe.
struct FitOptions {
  std::uint64_t seed = 0;
  std::optional<std::int64_t> steps = {};  // or no_limit, with `minutes`
  std::optional<std::int64_t> batch = {};
  std::int64_t accumulate = 1;                // batches per update; their gradients are averaged
  std::optional<std::string> optimizer = {};  // optimizer_names()
  std::optional<double> learning_rate = {};   // at its highest
  std::optional<double> b2 = {};              // of adam, adamw and muon: the decay of the mean squares
  double weight_decay = 0;
  std::vector<FitGroup> groups = {};  // a parameter is in the first that names it; the others have no group
  double average = 0;     // decay of a moving average of the weights (nn/optim/ema.h, rising), which is then validated,
                          // tested and, in the end, left in the model; 0: none
  double specialise = 0;  // weight of topic_information() (slot_specialisation.h), which is subtracted from the loss of
                          // a model with a memory; 0: none
  std::optional<std::string> schedule = {};  // schedule_names(): of the learning rate, after the warm-up
  double warm_up = 0.05;                     // the fraction of the steps in which the learning rate rises from 0
  double clip = 1;                           // limit of the gradient norm
  bool curriculum = true;                    // begin with the easier lessons of the task, if it has any
  std::int64_t validate_every = 100;
  std::int64_t validation_samples = 1024;  // of a task whose samples never end; held-out ones are all used
  std::int64_t test_samples = 10000;

  std::int64_t patience = 0;                // stop after this number of validations without a lower loss; 0: never
  double minutes = 0;                       // stop after this time, with which the schedule then ends; 0: never
  std::optional<double> until = {};         // stop when the validation metric is as good as this
  const std::atomic<bool>* stop = nullptr;  // stop when it is set (by a signal, say)

  Measures measures = {};  // a loss and a metric of your own for the task; none: those of its kind
  std::function<FitAction(const FitStep&)> on_step = {};        // called after each update
  std::function<FitAction(const Metrics&)> on_validation = {};  // called after each validation; the model then has the
                                                                // weights that were validated

  std::string checkpoint = {};  // a file from which the training can be resumed; empty: none
  double checkpoint_seconds =
      5;                // the minimum time between two of them, which are written at validations from the first
  bool resume = false;  // go on from that file, if it exists
  std::function<void()> before_checkpoint = {};  // called before each is written: for what has to be on the disk then
  std::string initial_weights = {};  // a hash, unless they are the seed's; a checkpoint with another one is refused
  ModelDescription model = {};       // stored with it

  std::ostream* metrics = nullptr;  // gets a JSON line per validation
  bool watch_gradients = false;     // with the gradient norm of each layer
  ProgressOptions progress = {};
};

/// The recipe of a training without a task's.
inline constexpr Recipe fit_recipe{.batch = 64, .learning_rate = 3e-3, .steps = 1000};
/// The options, with the recipe's numbers where none are given. With `minutes`, steps that are not given are no_limit.
FitOptions with_recipe(FitOptions options, const Recipe& recipe);

/// Throws ValueError for invalid options.
void check_options(const FitOptions& options);

/// Why a training ended, and its name in reports.
enum class StopReason { steps, patience, minutes, target, signal, callback };
constexpr std::string_view name_of(StopReason reason) {
  constexpr std::string_view names[] = {"steps", "patience", "minutes", "target", "signal", "callback"};
  return names[static_cast<int>(reason)];
}

/// A loss or a gradient is not finite. Names the first record of the computation with such a number.
class DivergenceError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// What a training ended with.
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

class Training;
/// Trains anything else, with the options with which it was made.
FitResult fit(Training& training);

}  // namespace retrace
