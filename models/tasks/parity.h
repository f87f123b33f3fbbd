// Is the number of ones odd?
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// The length of the sequences.
struct ParityOptions {
  std::int64_t length = 40;  // bits
};

/// Bits, drawn evenly, one per row: 1 or -1. The answer after every row is the parity of the bits so far: class 1 if
/// the number of ones is odd. T = A = length, I = 1, O = 2 classes.
class Parity final : public Task {
 public:
  /// Throws ValueError for a length below 1.
  explicit Parity(const ParityOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "length";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return 1; }
  std::int64_t sequence_length() const override { return options_.length; }
  std::int64_t answer_length() const override { return options_.length; }
  std::int64_t output_size() const override { return 2; }
  Baselines baselines() const override;
  /// The number of bits read before the answer.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::string describe(const Example& example) const override;
  std::string describe_label(std::int64_t label) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;

  ParityOptions options_;
};

}  // namespace retrace
