// Which value was shown with each of these keys? Many questions in one sequence, at any distance.
#pragma once

#include <vector>

#include <retrace/models/tasks/task.h>

namespace retrace {

/// How much is shown and asked.
struct MultiQueryRecallOptions {
  std::int64_t length = 64;  // rows
  std::int64_t pairs = 8;    // shown and asked for
  std::int64_t keys = 32;    // to draw from
  std::int64_t values = 32;  // likewise
};

/// Multi-query associative recall (MQAR). Rows 1 ... 2 P hold P different keys, each followed by a value of its own:
/// one symbol per row, one-hot(keys + values). In the other rows each key comes once more, alone, and has its value as
/// the answer; all others are empty, without an answer. A question stands 2 g rows behind the pairs, at one of the
/// (T - 2 P) / 2 such rows; g = 0, 1, ... is drawn with a probability proportional to (g + 1)^-0.99, so that most
/// questions come soon. A = T - 2 P, I = keys + values, O = values classes.
///
/// Source: Arora et al., "Zoology: Measuring and Improving Recall in Efficient Language Models" (2023), whose empty
/// rows may be random symbols. There all rows ask for the next symbol, here those of the questions.
class MultiQueryRecall final : public Task {
 public:
  /// Throws ValueError without pairs, for fewer keys than pairs, less than 2 values, and for less than 4 rows per pair.
  explicit MultiQueryRecall(const MultiQueryRecallOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "length, keys, values, pairs";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return options_.keys + options_.values; }
  std::int64_t sequence_length() const override { return options_.length; }
  std::int64_t output_size() const override { return options_.values; }
  std::int64_t answer_length() const override { return options_.length - 2 * options_.pairs; }
  Baselines baselines() const override;
  /// The position of the pair, and the rows since then.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;
  std::int64_t draw_place(Random& random) const;

  MultiQueryRecallOptions options_;
  std::vector<double> up_to_place_;  // the sums of the weights of the places of questions
};

}  // namespace retrace
