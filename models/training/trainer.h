// The steps of a training, one at a time: what `fit` repeats.
#pragma once

#include <memory>
#include <vector>

#include <retrace/models/training/fit.h>
#include <retrace/nn/optimizer.h>

namespace retrace {

/// Where a training stands in its task's curriculum: the lesson, counted from 0 (as many as there are easier lessons
/// for the full task), and how well its samples are answered, averaged over about the last 50 batches.
struct CurriculumState {
  std::int64_t lesson = 0;
  double accuracy = 0;
};

/// Draws batches, computes the loss, walks back, clips and updates. A step moves on to the next lesson when the average
/// accuracy has passed the lesson's mark. Once warm, a step takes nothing from the heap.
class Trainer {
 public:
  Trainer(const SequenceModel& model, const Task& task, const FitOptions& options);

  /// Throws ValueError if the loss is not finite; the parameters are then as they were.
  StepReport step();
  /// Steps made.
  std::int64_t steps() const { return optimizer_->steps(); }
  const CurriculumState& curriculum() const { return curriculum_; }
  /// Whether samples are those of the task itself, not of an easier lesson.
  bool at_full_task() const { return curriculum_.lesson >= std::ssize(lessons_); }

  /// What the optimiser remembers, by name.
  std::vector<NamedTensor> state() const;
  /// Goes on after `steps` steps; the parameters and state() have been restored.
  void resume(std::int64_t steps, const CurriculumState& curriculum);

 private:
  double walk_back(std::int64_t batch);
  void observe(const Tensor& output, const Tensor& target);

  const SequenceModel& model_;
  const Task& task_;
  FitOptions options_;
  std::vector<Lesson> lessons_;
  CurriculumState curriculum_;
  Random batches_;
  std::unique_ptr<AnyOptimizer> optimizer_;
};

}  // namespace retrace
