// Which vector is the n-th farthest from that one? (Santoro et al., "Relational recurrent neural networks", NeurIPS
// 2018.)
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// The number of vectors and of their dimensions.
struct NthFarthestOptions {
  std::int64_t vectors = 8;
  std::int64_t dims = 16;
  // To begin with an easier lesson for a model of the same sizes:
  std::vector<std::int64_t> ranks = {};  // that are asked for, 1 (farthest) to vectors (m itself); empty: all
  std::int64_t active_dims = 0;          // the other dims are zero; 0: all are active
};

/// k vectors of d numbers from U(-1, 1), with labels 0 .. k-1 in random order. Every row is a vector | one-hot(its
/// label) | one-hot(n - 1) | one-hot(label of m), with the same question in every row: which vector is the n-th
/// farthest (Euclidean) from the vector m? m takes part: it is the k-th farthest from itself. The answer is a label. T
/// = k, I = d + 3 k, O = k classes.
class NthFarthest final : public Task {
 public:
  /// Throws ValueError for less than 2 vectors, less than 1 dim, and for ranks or active dims out of range.
  explicit NthFarthest(const NthFarthestOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "vectors, dims";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return options_.dims + 3 * options_.vectors; }
  std::int64_t sequence_length() const override { return options_.vectors; }
  std::int64_t output_size() const override { return options_.vectors; }
  /// The trivial answer is m where m itself is asked for, and else the vector whose length has that rank among the
  /// others: long vectors are far from most. It is simulated. The shortcut picks any of the others instead: 2 / k over
  /// all ranks.
  Baselines baselines() const override;
  /// Trained on all ranks at once, a model stays at the shortcut of 2 / k for millions of samples, because the answer
  /// depends on n, label and distance together, and averaging over n hides that. So lessons first ask only for the
  /// farthest, in 1, 2, 4, ... dims, and then for one more rank at a time. A lesson ends at an accuracy that cannot be
  /// reached without comparing m with all vectors, those shown before it, too.
  std::vector<Lesson> lessons() const override;
  /// n, counted from the farthest, and when m was seen.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::string describe(const Example& example) const override;
  std::optional<std::int64_t> row_to_remember(const Example& example) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;
  std::int64_t rank_in(const Example& example) const;    // n
  std::int64_t center_in(const Example& example) const;  // the label of m

  NthFarthestOptions options_;
};

}  // namespace retrace
