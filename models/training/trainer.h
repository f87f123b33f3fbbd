// The training of a model on a task.
#pragma once

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <retrace/models/tasks/text/streams.h>
#include <retrace/models/training/training.h>

namespace retrace {

/// Draws batches. A step moves on to the next lesson when the average accuracy exceeds the lesson's limit. After the
/// first steps, a step does not allocate from the heap.
///
/// Of a text, the rows of a batch are streams of its training part, and each step reads their next segment: from the
/// state after the last one, through which no gradient flows back, if the model carries it (truncated backpropagation
/// through time). A pass begins with an empty state. The segment is a function of the step.
class Trainer final : public Training {
 public:
  /// Throws ValueError for invalid options, and for a text that is too short (check_length). Model and task have to
  /// outlive it.
  Trainer(const SequenceModel& model, const Task& task, const FitOptions& options);

  std::string description() const override;
  std::string_view metric() const override;
  bool more_is_better() const override;
  /// Both on unseen samples, the same every time: see evaluate().
  Evaluation validate() const override;
  Evaluation test() const override;
  double reference_loss() const override;
  CurriculumState curriculum() const override { return curriculum_; }
  bool at_full_task() const override { return curriculum_.lesson >= std::ssize(lessons_); }
  /// Includes the state that is carried over.
  std::vector<NamedTensor> state() const override;
  void resume(std::int64_t steps, const CurriculumState& curriculum) override;

 private:
  Tensor loss_of(std::int64_t batch) override;
  void mark() override { marked_ = {curriculum_, carried_}; }
  void rewind() override { std::tie(curriculum_, carried_) = marked_; }
  Names names() const override { return model_.names(); }
  void begin_streams(const TextData& data);
  void check_topics() const;
  /// The batch of that number, and the model's output for it.
  std::pair<Batch, Tensor> drawn(std::int64_t number, Random& dropout) const;
  std::pair<Batch, Tensor> next_segment(std::int64_t number, Random& dropout);
  void observe(const Tensor& output, const Tensor& target);

  const SequenceModel& model_;
  const Task& task_;
  std::optional<Streams> streams_;  // of a text
  SequenceState carried_;
  std::vector<Lesson> lessons_;
  CurriculumState curriculum_;
  std::pair<CurriculumState, SequenceState> marked_;
  Random batches_, dropout_;
};

}  // namespace retrace
