// Repeat a word: unchanged, backwards, or twice.
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// How the word is to be repeated.
enum class Recital { copy, reverse, twice };

/// The length of the words.
struct ReciteOptions {
  std::int64_t length = 10;   // characters of the word
  std::int64_t symbols = 10;  // different characters
};

/// The tasks copy, reverse and double. L characters, drawn evenly, one per row: one-hot(symbols) | 0; a row with the
/// end marker: zeros | 1; then zero rows, each of which is answered by a character. A = L rows of answers (double: 2
/// L), T = L + 1 + A, I = symbols + 1, O = symbols classes.
class Recite final : public Task {
 public:
  /// Throws ValueError for a length below 1 and for less than 2 symbols.
  explicit Recite(Recital recital, const ReciteOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "length";
  static std::unique_ptr<Task> make(Recital recital, const TaskOptions& given);

  std::int64_t input_size() const override { return options_.symbols + 1; }
  std::int64_t sequence_length() const override { return options_.length + 1 + answer_length(); }
  std::int64_t answer_length() const override {
    return recital_ == Recital::twice ? 2 * options_.length : options_.length;
  }
  std::int64_t output_size() const override { return options_.symbols; }
  Baselines baselines() const override;
  /// The position in the answer.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::string describe(const Example& example) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;
  /// Which character of the word is the k-th of the answer.
  std::int64_t source(std::int64_t k) const;

  Recital recital_;
  ReciteOptions options_;
};

}  // namespace retrace
