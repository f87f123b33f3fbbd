// The training of a model on a task.
#pragma once

#include <optional>
#include <vector>

#include <retrace/models/training/training.h>

namespace retrace {

/// Draws batches. A step moves on to the next lesson when the average accuracy exceeds the lesson's limit. After the
/// first steps, a step does not allocate from the heap.
class Trainer final : public Training {
 public:
  Trainer(const SequenceModel& model, const Task& task, const FitOptions& options);

  std::string description() const override;
  std::string_view metric() const override;
  bool more_is_better() const override;
  /// On the samples that the task holds out; if it holds out none, on random samples, the same every time and separate
  /// from those of the test.
  Evaluation validate() const override;
  Evaluation test() const override;
  double reference_loss() const override;
  CurriculumState curriculum() const override { return curriculum_; }
  bool at_full_task() const override { return curriculum_.lesson >= std::ssize(lessons_); }
  void resume(std::int64_t steps, const CurriculumState& curriculum) override;

 private:
  Tensor loss_of(std::int64_t batch) override;
  void mark() override { marked_ = curriculum_; }
  void rewind() override { curriculum_ = marked_; }
  Names names() const override { return model_.names(); }
  void check_topics() const;
  void observe(const Tensor& output, const Tensor& target);
  Evaluation on(std::string_view samples, std::int64_t count, const SeePortion& see = {}) const;

  const SequenceModel& model_;
  const Task& task_;
  std::optional<HeldOut> held_out_;
  std::vector<Lesson> lessons_;
  CurriculumState curriculum_, marked_;
  Random batches_, dropout_;
};

}  // namespace retrace
