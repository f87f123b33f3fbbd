// The training of a model on a task.
#pragma once

#include <cstddef>
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
///
/// With shards, a batch is drawn as without them and then cut into rows; each shard has a dropout of its own, and of a
/// text a state of its own. In a step of several batches, all are of the lesson with which it began.
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
  void share_state() override;
  void resume(std::int64_t steps, const CurriculumState& curriculum) override;

 private:
  Tensor loss_of(std::int64_t batch) override;
  ShardLoss loss_of_shard(std::int64_t batch, const Shard& shard) override;
  void observe(double accuracy) override;
  void mark() override { marked_ = {curriculum_, carried_}; }
  void rewind() override { std::tie(curriculum_, carried_) = marked_; }
  Names names() const override { return model_.names(); }
  void begin_streams(const TextData& data);
  void check_topics() const;
  Batch drawn(std::int64_t number) const;
  /// The batch of that number, which is kept until the step is over.
  const Batch& kept(std::int64_t number);
  /// The model's output for some rows of a batch. Of a text, goes on from the state of this shard.
  Tensor output_for(const Batch& rows, std::int64_t number, std::size_t shard, Random& dropout);
  /// What specialise adds to the loss.
  Tensor topic_loss(const Batch& rows) const;
  /// The rows of a batch on which the lesson is graded.
  std::int64_t graded_rows(std::int64_t rows) const;
  double graded_metric(const Tensor& output, const Tensor& target, std::int64_t rows) const;

  const SequenceModel& model_;
  const Task& task_;
  std::optional<Streams> streams_;      // of a text
  std::vector<SequenceState> carried_;  // of each shard
  std::vector<Lesson> lessons_;
  CurriculumState curriculum_;
  std::pair<CurriculumState, std::vector<SequenceState>> marked_;
  struct Kept {
    std::int64_t number, lesson;
    Batch batch;
  };
  std::vector<Kept> kept_;
  Random batches_, dropout_;
};

}  // namespace retrace
