// Which value had this key last? Keys are given new values, and some rows are empty.
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// How much is shown, and from what it is drawn.
struct DynamicRecallOptions {
  std::int64_t pairs = 10;       // rows with a pair
  std::int64_t keys = 5;         // to draw from; the same one may come again
  std::int64_t values = 10;      // likewise
  std::int64_t distractors = 6;  // rows without content, anywhere between the pairs
};

/// Associative recall with a memory that is overwritten. Rows hold pairs of a key and a value: one-hot(keys) |
/// one-hot(values), each drawn independently; D rows between them are zero. The last row holds one of the keys that
/// were shown alone, each as likely as the others. The answer is the value that it had last. T = pairs + D + 1, I =
/// keys + values, O = values classes.
class DynamicRecall final : public Task {
 public:
  /// Throws ValueError without pairs, for less than 2 keys or values, and for less than 0 distractors.
  explicit DynamicRecall(const DynamicRecallOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "length, keys, values, distractors";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return options_.keys + options_.values; }
  std::int64_t sequence_length() const override { return shown_rows() + 1; }
  std::int64_t output_size() const override { return options_.values; }
  /// Trivial: the value shown last. A shortcut: the first value of the key. Both are simulated.
  Baselines baselines() const override;
  /// How many values the key had, and how many rows ago the last one was shown.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::optional<std::int64_t> row_to_remember(const Example& example) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  std::int64_t shown_rows() const { return options_.pairs + options_.distractors; }
  void fill(Random& random, const Batch& batch) const override;

  DynamicRecallOptions options_;
};

}  // namespace retrace
