// The sum of the two marked numbers in a long sequence.
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// The length of the sequences.
struct AddingOptions {
  std::int64_t length = 100;  // rows
};

/// The adding problem (Hochreiter and Schmidhuber, 1997). A row is a number from U(0, 1) | its mark. One row of the
/// first half and one of the second are marked 1, the others 0. The answer is the sum of the two marked numbers. T =
/// length, I = 2, O = 1.
class Adding final : public Task {
 public:
  /// Throws ValueError for a length below 2.
  explicit Adding(const AddingOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "length";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return 2; }
  std::int64_t sequence_length() const override { return options_.length; }
  std::int64_t output_size() const override { return 1; }
  Baselines baselines() const override;
  /// Rows between the marks, in quarters of the length.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe(const Example& example) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;

  AddingOptions options_;
};

}  // namespace retrace
