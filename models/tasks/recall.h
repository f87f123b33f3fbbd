// Which value was shown with this key?
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// The number of pairs, and what they are drawn from.
struct RecallOptions {
  std::int64_t pairs = 6;
  std::int64_t keys = 10;  // to draw from
  std::int64_t values = 10;
};

/// Associative recall. Pairs of a key and a value, one per row: one-hot(keys) | one-hot(values); in one sequence all
/// keys differ, and so do all values. The last row holds one of the keys alone. The answer is its value. T = pairs + 1,
/// I = keys + values, O = values classes.
class Recall final : public Task {
 public:
  /// Throws ValueError without pairs and for more pairs than keys or values.
  explicit Recall(const RecallOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "length, keys, values";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return options_.keys + options_.values; }
  std::int64_t sequence_length() const override { return options_.pairs + 1; }
  std::int64_t output_size() const override { return options_.values; }
  Baselines baselines() const override;
  /// The position of the pair that is asked for.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::optional<std::int64_t> row_to_remember(const Example& example) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;

  RecallOptions options_;
};

}  // namespace retrace
