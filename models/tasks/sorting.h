// Numbers in ascending order.
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// How many numbers, and of which.
struct SortingOptions {
  std::int64_t length = 8;
  std::int64_t values = 20;
};

/// L different numbers of 0 ... V-1 in random order, one per row: one-hot(V) | 0. The next row ends them: 0 | 1. In the
/// L empty rows after it the answers are the numbers in ascending order. T = 2 L + 1, A = L, I = V + 1, O = V classes.
class Sorting final : public Task {
 public:
  /// Throws ValueError for less than 2 numbers and for fewer values than numbers.
  explicit Sorting(const SortingOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "length, values";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return options_.values + 1; }
  std::int64_t sequence_length() const override { return 2 * options_.length + 1; }
  std::int64_t output_size() const override { return options_.values; }
  std::int64_t answer_length() const override { return options_.length; }
  /// Trivial: the number that each place of the answer has most often.
  Baselines baselines() const override;
  /// The place in the answer, and by how much the number is above the one before it.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::string describe(const Example& example) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;

  SortingOptions options_;
};

}  // namespace retrace
