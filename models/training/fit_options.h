// The options of a training.
#pragma once

#include <atomic>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/formats/option_rows.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/metrics.h>
#include <retrace/models/training/progress.h>
#include <retrace/models/training/ranks/communicator.h>

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

/// The answer of a callback.
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
  std::optional<std::int64_t> shards = {};    // parts of a batch whose gradients are added in a fixed order, a power of
                                              // two (ranks/shard_sum.h); without ranks, by default a batch is one whole
  std::optional<std::string> optimizer = {};  // optimizer_names()
  std::optional<double> learning_rate = {};   // at its highest
  std::optional<double> b2 = {};              // of adam, adamw, muon, nadam and radam: the decay of the mean squares
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
  const std::atomic<bool>* stop = nullptr;  // stop when it is set (by a signal, say); in shards, even within a step

  Communicator* ranks = nullptr;  // processes that share the shards, 8 if `shards` is not given; none: this one alone

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

/// The options of FitOptions that have a name on a command line.
OptionRows<FitOptions> fit_option_rows();
/// Throws ValueError for invalid options.
void check_options(const FitOptions& options);

/// adafactor, adam, adamw, lion, muon, nadam, radam, rmsprop, sgd (with momentum 0.9).
std::span<const std::string_view> optimizer_names();
/// Whether FitOptions::b2 is an option of the optimiser: of adam, adamw, muon, nadam and radam.
bool has_b2(std::string_view optimizer);
/// cosine (to 0 at the last step), linear (to 0 at the last step), trapezoid (constant, and linear to 0 in the last
/// fifth of the steps), steps (halved every fifth of them), constant.
std::span<const std::string_view> schedule_names();

}  // namespace retrace
