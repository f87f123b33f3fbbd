// Training on a text, by truncated backpropagation through time.
#pragma once

#include <cmath>
#include <functional>

#include <retrace/models/tasks/task.h>
#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/text/text_model.h>
#include <retrace/models/training/training.h>

namespace retrace {

/// The metric that metric_name(kind) names, from the mean of -ln p.
double metric_of(TokenKind kind, double loss);

/// The mean of -ln p over all tokens but the first, and its metric. They are read as streams, each with a state of its
/// own. `before_segment` is called before each segment. Throws ValueError for fewer than 2 tokens.
Evaluation evaluate(const TextModel& model, TokenIds ids, const std::function<void()>& before_segment = {});

/// The number of streams in which evaluate() reads a text.
std::int64_t streams_of_test(TokenIds ids);
/// -ln p of every token but the first, in their order, read as `rows` streams. Throws ValueError for fewer than 2
/// tokens or less than 1 row.
std::vector<double> token_losses(const TextModel& model, TokenIds ids, std::int64_t rows);

/// Baselines for results on the test part: an even guess; the frequencies of the tokens in the training part (plus one
/// each, so that none is 0). The best possible result is not known; its value is 0.
Baselines baselines_of(const TextData& data);

/// Throws ValueError for a text that does not fill one segment of each row, or leaves nothing to test on.
void check_length(const TextData& data, std::int64_t rows, std::int64_t length);

/// Rows of a batch read streams of the training part, one segment per step, from the state after the last segment,
/// through which no gradient flows back. A pass begins with an empty state. The segment is a function of the step.
class TextTraining : public Training {
 public:
  /// Throws ValueError for a text that is too short, see check_length. Model and data have to outlive it.
  TextTraining(const TextModel& model, const TextData& data, const FitOptions& options);

  std::string description() const override;
  std::string_view metric() const override { return metric_name(data_.vocabulary.kind()); }
  /// On the first `validation_samples` segments of the validation part.
  Evaluation validate() const override;
  /// On all of the test part.
  Evaluation test() const override {
    return evaluate(model_, data_.test(), [this] { leave_if_stopped(); });
  }
  /// The loss of giving every token the same probability.
  double reference_loss() const override { return std::log(static_cast<double>(data_.vocabulary.size())); }
  /// Includes the state that is carried over.
  std::vector<NamedTensor> state() const override;

 private:
  Tensor loss_of(std::int64_t batch) override;
  void mark() override { marked_ = carried_; }
  void rewind() override { carried_ = marked_; }
  Names names() const override { return model_.network.names(); }

  const TextModel& model_;
  const TextData& data_;
  Streams streams_;
  Random dropout_;
  SequenceState carried_, marked_;
};

}  // namespace retrace
