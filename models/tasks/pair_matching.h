// Which element was shown beside this one?
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// The length of the sequences.
struct PairMatchingOptions {
  std::int64_t length = 10;  // rows; an odd number is rounded up
  std::int64_t vocabulary = 20;
};

/// length / 4 pairs of elements, all different, shown one element per row: one-hot(V) | 0. Then one of them, from
/// either side of its pair, with the marker: one-hot(V) | 1. The other rows are zero. The answer, given after the last
/// row, is the element of the same pair. T = length, I = V + 1, O = V classes.
class PairMatching final : public Task {
 public:
  /// Throws ValueError for a length below 4 (no pair) and for a vocabulary smaller than the pairs' elements.
  explicit PairMatching(const PairMatchingOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "length, vocabulary";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return options_.vocabulary + 1; }
  std::int64_t sequence_length() const override { return options_.length; }
  std::int64_t output_size() const override { return options_.vocabulary; }
  Baselines baselines() const override;
  /// The place of the pair that is asked for, and its side.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::optional<std::int64_t> row_to_remember(const Example& example) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  std::int64_t elements() const { return options_.length / 4 * 2; }
  void fill(Random& random, const Batch& batch) const override;

  PairMatchingOptions options_;
};

}  // namespace retrace
