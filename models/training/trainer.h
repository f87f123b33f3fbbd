// The steps of a training, one at a time: what `fit` repeats.
#pragma once

#include <retrace/models/training/fit.h>
#include <retrace/nn/optimizers.h>
#include <retrace/nn/schedules.h>

namespace retrace {

struct StepReport {
  double loss = 0;
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
};

/// Draws a batch, computes the loss, walks back, clips and updates. Once warm, a step takes nothing from the heap.
class Trainer {
 public:
  Trainer(const SequenceModel& model, const Task& task, const FitOptions& options);

  /// Throws ValueError if the loss is not finite; the parameters are then as they were.
  StepReport step();
  /// Steps made.
  std::int64_t steps() const { return step_; }

 private:
  const SequenceModel& model_;
  const Task& task_;
  std::int64_t batch_;
  double clip_;
  WarmUpCosine learning_rate_;
  Random batches_;
  Adam adam_;
  std::int64_t step_ = 0;
};

}  // namespace retrace
