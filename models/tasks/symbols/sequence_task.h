// Tasks on symbols whose samples have one length: each is a function that draws a sample, and a row.
#pragma once

#include <retrace/models/tasks/symbols/symbol_task.h>

namespace retrace {

class SequenceTask;

/// A task: its options, how a sample is drawn, and what is said of it.
struct SequenceRules {
  std::string_view name;
  std::string_view option_names;  // of the task by name; a program may set every size that has a default
  TaskOptions defaults;
  /// Throws ValueError for options without a task.
  SymbolSizes (*sizes)(const char* name, const TaskOptions& options);
  void (*draw)(Random& random, const SymbolSizes& sizes, SymbolSample& sample);
  Baselines (*baselines)(const SymbolSizes& sizes);
  std::vector<Category> (*categories)(const SequenceTask& task, const Example& example, std::int64_t answer);
  std::string (*describe_row)(const SequenceTask& task, const Example& example, std::int64_t t);
  std::string (*describe)(const SequenceTask& task, const Example& example) = nullptr;  // null: a line per row
  std::optional<std::int64_t> (*row_to_remember)(const SequenceTask& task, const Example& example) = nullptr;
  std::string_view classes = {};  // as words; empty: numbers
};

/// Symbols are repeated, sorted, paired and counted:
///
/// - copy, reverse, double: a word of `length` L (10) symbols, drawn evenly out of `vocabulary` (10), one per row:
///   one-hot(vocabulary) | 0. A row with the end marker follows: zeros | 1. Then come empty rows, each of which is
///   answered by a symbol: the word again, backwards, or twice. A = L (double: 2 L), T = L + 1 + A, O = vocabulary.
/// - sorting: a word of `length` (8) different numbers of 0 ... `values` - 1 (20), likewise: in ascending order.
/// - pair-matching: `length` T (10; rounded up to an even number) / 4 pairs of elements out of `vocabulary` V (20), all
///   different, shown one per row: one-hot(V) | 0. Then one of them, from either side of its pair, with a marker:
///   one-hot(V) | 1. The other rows are empty. The answer, after the last row, is the element of the same pair. O = V.
/// - parity: `length` (40) bits, drawn evenly, one per row: 1 or -1. The answer after every row is 1 if the number of
///   ones so far is odd. T = A = length, I = 1, O = 2.
std::span<const SequenceRules> word_tasks();

/// Values are found by their keys:
///
/// - recall: `length` P (6) pairs of one of `keys` (10) and one of `values` (10), one per row: one-hot(keys) |
///   one-hot(values); in a sample all keys differ, and so do all values. The last row holds one of the keys alone. The
///   answer is its value. T = P + 1, I = keys + values, O = values.
/// - dynamic-recall: likewise, but each key (5) and value (10) is drawn independently, and `distractors` D (6) rows
///   between the pairs (10) are empty. The answer is the last value of the key, which is drawn evenly from those that
///   were shown. T = P + D + 1.
/// - multi-query-recall: Arora et al., "Zoology: Measuring and Improving Recall in Efficient Language Models" (2023),
///   whose empty rows may be random symbols and all ask for the next symbol. Rows 1 ... 2 P hold `pairs` P (8)
///   different keys (of 32), each followed by a value of its own (of 32): one symbol per row, one-hot(keys + values).
///   In the other rows of `length` T (64) each key comes once more, and has its value as the answer; all others are
///   empty, without an answer. A question stands 2 g rows after the pairs; g = 0, 1, ... is drawn with a probability
///   proportional to (g + 1)^-0.99, so that most come soon. A = T - 2 P, I = keys + values, O = values.
std::span<const SequenceRules> recall_tasks();

/// The rules of one of these tasks. Throws ValueError for another name.
const SequenceRules& sequence_rules(std::string_view name);

/// The task of some rules, which stay where they are.
class SequenceTask final : public SymbolTask {
 public:
  /// Throws ValueError for options without a task.
  explicit SequenceTask(const SequenceRules& rules, const TaskOptions& options = {});

  Baselines baselines() const override { return rules_.baselines(sizes()); }
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::string describe(const Example& example) const override;
  std::string describe_label(std::int64_t label) const override;
  std::optional<std::int64_t> row_to_remember(const Example& example) const override;

 private:
  void draw(Random& random, std::int64_t number, SymbolSample& sample) const override;

  const SequenceRules& rules_;
};

}  // namespace retrace
