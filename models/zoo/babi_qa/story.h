// A story while it is told, and the twenty kinds of stories.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <retrace/core/tensor/memory.h>
#include <retrace/models/zoo/babi_qa/words.h>

namespace retrace::stories {

/// Facts, a question about them, and its answer.
class Story {
 public:
  explicit Story(std::int64_t most_facts) : most_facts_(most_facts) {
    facts_.reserve(static_cast<std::size_t>(most_facts));
  }

  /// Forgets all facts.
  void clear() { facts_.clear(); }
  void tell(const Sentence& fact) { facts_.push_back(fact); }
  /// Puts the facts into a random order.
  void shuffle(Random& random) {
    for (std::int64_t k = std::ssize(facts_) - 1; k > 0; --k)
      std::swap(facts_[static_cast<std::size_t>(k)], facts_[static_cast<std::size_t>(random.integer(k + 1))]);
  }
  void ask(const Sentence& question, Word answer) { question_ = question, answer_ = answer; }

  std::int64_t most_facts() const { return most_facts_; }
  /// A number of facts, each from `shortest` to the most as likely as the others.
  std::int64_t draw_length(Random& random, std::int64_t shortest) const {
    return shortest + random.integer(most_facts_ - shortest + 1);
  }
  std::span<const Sentence> facts() const { return facts_; }
  const Sentence& question() const { return question_; }
  Word answer() const { return answer_; }

 private:
  std::int64_t most_facts_;
  std::vector<Sentence, PoolAllocator<Sentence>> facts_;
  Sentence question_{where_is.first};
  Word answer_ = none;
};

/// The least that the longest story has to be allowed: some kinds have nine facts.
inline constexpr std::int64_t fewest_facts = 9;

/// Each tells a story without facts a new one, of up to its most facts (fewest_facts or more), and asks a question
/// whose answer follows from them.
void single_supporting_fact(Random& random, Story& story);
void two_supporting_facts(Random& random, Story& story);
void three_supporting_facts(Random& random, Story& story);
void two_argument_relations(Random& random, Story& story);
void three_argument_relations(Random& random, Story& story);
void yes_no_questions(Random& random, Story& story);
void counting(Random& random, Story& story);
void lists_and_sets(Random& random, Story& story);
void simple_negation(Random& random, Story& story);
void indefinite_knowledge(Random& random, Story& story);
void basic_coreference(Random& random, Story& story);
void conjunction(Random& random, Story& story);
void compound_coreference(Random& random, Story& story);
void time_reasoning(Random& random, Story& story);
void basic_deduction(Random& random, Story& story);
void basic_induction(Random& random, Story& story);
void positional_reasoning(Random& random, Story& story);
void size_reasoning(Random& random, Story& story);
void path_finding(Random& random, Story& story);
void motivations(Random& random, Story& story);

/// One of the twenty kinds.
struct StoryKind {
  std::string_view name;
  void (*tell)(Random& random, Story& story);
};
/// All of them, in the paper's order: kind k is the element k - 1.
std::span<const StoryKind> story_kinds();
/// Their names, in the same order.
std::span<const std::string_view> story_kind_names();
/// The kind of a story, from 1, by its words alone.
std::int64_t kind_of(std::span<const Sentence> facts, const Sentence& question);

}  // namespace retrace::stories
