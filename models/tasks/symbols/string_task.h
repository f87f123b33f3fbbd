// Tasks on strings whose lengths differ: a model is trained on short ones and tested on longer ones.
#pragma once

#include <retrace/models/tasks/symbols/symbol_task.h>

namespace retrace {

/// A function from strings to strings, with a distribution of its inputs.
struct StringRules {
  std::string_view name;
  std::string_view symbols;  // of the input, as words separated by blanks
  std::string_view classes;  // of the answers, likewise
  /// Draws an input of its length and the answers, which are no_answer before and may stay so at the end.
  void (*draw)(Random& random, std::span<std::int64_t> input, std::span<std::int64_t> answers);
  /// How many answers an input of `length` symbols has; it grows with the length. Null: one.
  std::int64_t (*answers_of)(std::int64_t length) = nullptr;
  std::int64_t shortest = 1;  // length of an input
  bool odd_lengths = false;   // an even length is shortened by one
};

/// The lengths of the inputs, without the rows of the answers.
struct StringLengths {
  std::int64_t shortest = 1;  // raised to the shortest input that the rules have
  std::int64_t longest = 40;
};

/// Strings s_1 ... s_n, one symbol per row: one-hot(symbols) | 0. As many rows 0 | 1 follow as there are answers, and
/// the answers stand in them: a model reads the whole string first. I = symbols + 1, O = classes, T = the longest n and
/// its answers. n is drawn evenly from the lengths, once for each 64 samples of a batch: a batch of a training has one
/// length, as in the paper, and a test sees many. The metric is over single answers, all equally weighted.
///
/// Deletang et al., "Neural Networks and the Chomsky Hierarchy" (ICLR 2023), train on n = 1 ... 40 and take the mean of
/// the accuracies at n = 41 ... 500 as the score (`retrace eval RUN --by-length 41..500`).
class StringTask final : public SymbolTask {
 public:
  /// Throws ValueError unless the shortest length is 1 or more, the longest has an input, and it is at most 10000.
  explicit StringTask(const StringRules& rules, const StringLengths& lengths = {});

  std::int64_t input_length() const override { return sizes().shown; }
  bool has_lengths() const override { return true; }
  /// The trivial answer is simulated.
  Baselines baselines() const override;
  std::unique_ptr<Task> of_length(std::int64_t length) const override;
  /// The length of the input, and the position in the answer or, if there is one alone, the right one.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::string describe(const Example& example) const override;
  std::string describe_label(std::int64_t label) const override;

 private:
  void draw(Random& random, std::int64_t number, SymbolSample& sample) const override;
  std::int64_t input_length(const Example& example) const;

  StringRules rules_;
  std::int64_t shortest_;
};

}  // namespace retrace
