// The best parameters of a training so far.
#pragma once

#include <limits>
#include <vector>

#include <retrace/models/training/evaluate.h>

namespace retrace {

/// Keeps a copy of the parameters of the lowest validation loss that was offered.
class BestParameters {
 public:
  explicit BestParameters(const std::vector<NamedTensor>& parameters);

  /// Whether this validation has the lowest loss so far; the parameters are copied if so.
  bool offer(std::int64_t step, const Evaluation& validation);
  /// The parameters are copied in any case: those of an easier lesson cannot be compared with the full task.
  void take(std::int64_t step, const Evaluation& validation);
  /// Puts them back into the model.
  void restore() const;

  /// The copies, by name.
  std::vector<NamedTensor> state() const;
  /// Goes on with the best validation of an earlier run; state() has been restored.
  void resume(std::int64_t step, const Evaluation& validation) { step_ = step, validation_ = validation; }

  std::int64_t step() const { return step_; }
  const Evaluation& validation() const { return validation_; }

 private:
  std::vector<NamedTensor> live_;
  Tensors best_;
  std::int64_t step_ = 0;
  Evaluation validation_{.loss = std::numeric_limits<double>::infinity(), .metric = 0};
};

}  // namespace retrace
