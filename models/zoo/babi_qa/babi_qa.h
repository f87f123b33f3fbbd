// Twenty kinds of questions about stories (Weston et al., "Towards AI-Complete Question Answering", 2015).
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// Which stories are told.
struct BabiQaOptions {
  std::int64_t kind = 0;    // 1 to 20, in the paper's order; 0: all of them, each as likely as the others
  std::int64_t facts = 16;  // maximum in a story
};

/// Stories of up to F facts, a sentence per row, and a question in the last row; blank rows come before shorter
/// stories. A row is one-hot(relation) | one-hot(first noun) | one-hot(second) | one-hot(third): "Mary gave the milk to
/// John" is gave | Mary | milk | John. Verbs of one meaning ("moved to", "went to") are different relations. The answer
/// always follows from the facts. It is a noun, yes, no, maybe, a number, a set of objects ("apple,milk") or a path of
/// two steps ("n,w"), each one class. All kinds have the same sizes, so that one model can learn and be tested on any:
/// T = F + 1, I = 205, O = 49 classes.
///
/// The kinds are those of the paper; sentences, stories and their distributions are our own, and the rows are made of
/// words by their role, where the paper has text.
class BabiQa final : public Task {
 public:
  /// Throws ValueError for a kind above 20 or below 0, and for less than 9 facts, which some kinds have.
  explicit BabiQa(const BabiQaOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given. Throws ValueError for a
  /// kind that is neither one of babi_kind_names() nor a number from 1 to 20.
  static constexpr std::string_view option_names = "kind, facts";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override;
  std::int64_t sequence_length() const override { return options_.facts + 1; }
  std::int64_t output_size() const override;
  /// The trivial answer is simulated.
  Baselines baselines() const override;
  /// The kind by its name, and the number of facts.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  /// The sentences, one per line.
  std::string describe(const Example& example) const override;
  std::string describe_label(std::int64_t label) const override;
  /// The first noun of the row.
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;

  BabiQaOptions options_;
};

/// The names of the kinds, "single-supporting-fact" to "motivations"; kind k is the element k - 1.
std::span<const std::string_view> babi_kind_names();

}  // namespace retrace
