// A training as fit() sees it: steps, and the evaluation of the weights.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/base/error.h>
#include <retrace/core/tape/names.h>
#include <retrace/models/training/fit_options.h>
#include <retrace/models/training/ranks/shard_sum.h>
#include <retrace/nn/optim/ema.h>
#include <retrace/nn/optim/optimizer.h>

namespace retrace {

/// The position in the task's curriculum: the lesson, counted from 0 (the number of easier lessons stands for the full
/// task), and the accuracy on its samples, averaged over about the last 50 batches.
struct CurriculumState {
  std::int64_t lesson = 0;
  double accuracy = 0;
};

/// A loss or a gradient is not finite. Names the first record of the computation with such a number.
class DivergenceError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// Thrown out of a test, or of a step in shards, when FitOptions::stop is set, and by those who train several runs.
class Stopped : public Error {
 public:
  Stopped() : Error("fit: it was stopped") {}
};

/// The part that a shard has in a batch: the losses of all shards add up to that of the batch, and its metric is the
/// sum of their metrics divided by that of their weights.
struct ShardLoss {
  Tensor loss;  // recorded; undefined if the shard has no answers
  double metric = 0;
  double weight = 0;
};

/// Weights, their optimiser and the steps; a derived class defines the loss of a batch and the test of the weights.
class Training {
 public:
  virtual ~Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  /// Computes the loss and its gradients, with FitOptions::shards as sums over shards, clips them and updates the
  /// weights at the learning rate of step `scheduled` of the schedule. With `report_layers`, the report has the
  /// gradient norm of each layer. Throws DivergenceError, which names the first record with such a number, if the loss
  /// or a gradient is not finite, and leaves the weights unchanged. So does Stopped, which ends a step in shards after
  /// the current shard when FitOptions::stop is set on one of the ranks.
  StepReport step(std::int64_t scheduled, bool report_layers = false);
  StepReport step() { return step(steps()); }
  /// The same at a given learning rate.
  StepReport step_at(double learning_rate, bool report_layers = false);
  /// Throws DivergenceError, as step() does, if the loss of the validation after the last step is not finite.
  void check_validation(const Evaluation& validation);
  /// Throws DivergenceError if the weights, or the loss of the next batch, are not finite. Changes nothing.
  void check_weights();
  /// Steps made.
  std::int64_t steps() const { return optimizer_->steps(); }
  const std::vector<NamedTensor>& weights() const { return weights_; }
  /// The average of the weights; null if the options ask for none.
  Ema* average() { return average_ ? &*average_ : nullptr; }
  /// With every number that a recipe can give.
  const FitOptions& options() const { return options_; }

  /// A description of the training: a checkpoint with another one is refused.
  virtual std::string description() const = 0;
  /// The name of Evaluation::metric, zero-terminated, and whether higher is better.
  virtual std::string_view metric() const = 0;
  virtual bool more_is_better() const { return false; }
  virtual Evaluation validate() const = 0;
  /// Implementations call leave_if_stopped() regularly.
  virtual Evaluation test() const = 0;

  /// The loss that a training which learns nothing stays at: that of the weights as they are, before the first step, or
  /// of a constant answer, whichever is larger. NaN if it is not known.
  virtual double reference_loss() const { return std::numeric_limits<double>::quiet_NaN(); }
  virtual CurriculumState curriculum() const { return {}; }
  /// Whether batches are of the task that is validated, not of an easier lesson.
  virtual bool at_full_task() const { return true; }
  /// Brings what only some ranks have of state() to all of them.
  virtual void share_state() {}
  /// The tensors to store beside the weights, by name: the state of the optimiser, the average, and those that a
  /// derived class adds.
  virtual std::vector<NamedTensor> state() const;
  /// Goes on after `steps` steps; weights() and state() have been restored.
  virtual void resume(std::int64_t steps, const CurriculumState& curriculum);

 protected:
  /// Throws ValueError for invalid options.
  Training(std::vector<NamedTensor> weights, const FitOptions& options);
  bool is_stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  /// Throws Stopped if options().stop is set, of ranks that of rank 0.
  void leave_if_stopped() const;

 private:
  /// The loss of a batch, recorded on the tape in scope. Batches are numbered from 0 and requested in order.
  virtual Tensor loss_of(std::int64_t batch) = 0;
  /// The same of one shard; of a step, the batches of one shard are requested in order before those of the next one. By
  /// default throws ValueError: the training cannot cut its batches.
  virtual ShardLoss loss_of_shard(std::int64_t batch, const Shard& shard);
  /// The metric of a batch that was computed in shards, in order, after the step.
  virtual void observe(double /*metric*/) {}
  /// mark() remembers the state that loss_of() changes, and rewind() restores it, so that the same batches give the
  /// same losses again.
  virtual void mark() {}
  virtual void rewind() {}
  /// The names of weights and modules in errors.
  virtual Names names() const;

  Tensor recorded_loss_of(std::int64_t batch);
  double walk_back_in_batches();
  double walk_back(std::int64_t batch);
  // sharded_step.cpp
  enum class Walk { forward, backward };
  double walk_back_in_shards();
  ShardTerm sum_of_shards(Walk walk);
  double loss_of_step(const ShardTerm& sum) const;
  ShardTerm term_of(const Shard& shard, Walk walk);
  ShardTerm left_out_term() const;
  void observe_shards();
  /// Throws DivergenceError, and discards the gradients, if a number of the batches since mark() is not finite. Its
  /// message begins "fit: the <what> <steps()> is".
  void check_finite(const char* what, double value);
  /// Computes the batches since mark() again, and keeps all numbers to look through them.
  std::string what_is_not_finite();
  void discard_gradients() const;

  std::vector<NamedTensor> weights_;
  Tensors tensors_;                      // of weights_
  std::vector<double> numbers_of_step_;  // of its batches, in shards
  FitOptions options_;
  std::unique_ptr<AnyOptimizer> optimizer_;
  std::optional<Ema> average_;
};

}  // namespace retrace
