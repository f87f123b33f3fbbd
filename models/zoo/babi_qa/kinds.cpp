#include <retrace/models/zoo/babi_qa/story.h>

#include <algorithm>

namespace retrace::stories {
namespace {

constexpr std::array kinds{
    StoryKind{"single-supporting-fact", single_supporting_fact},
    StoryKind{"two-supporting-facts", two_supporting_facts},
    StoryKind{"three-supporting-facts", three_supporting_facts},
    StoryKind{"two-argument-relations", two_argument_relations},
    StoryKind{"three-argument-relations", three_argument_relations},
    StoryKind{"yes-no-questions", yes_no_questions},
    StoryKind{"counting", counting},
    StoryKind{"lists-and-sets", lists_and_sets},
    StoryKind{"simple-negation", simple_negation},
    StoryKind{"indefinite-knowledge", indefinite_knowledge},
    StoryKind{"basic-coreference", basic_coreference},
    StoryKind{"conjunction", conjunction},
    StoryKind{"compound-coreference", compound_coreference},
    StoryKind{"time-reasoning", time_reasoning},
    StoryKind{"basic-deduction", basic_deduction},
    StoryKind{"basic-induction", basic_induction},
    StoryKind{"positional-reasoning", positional_reasoning},
    StoryKind{"size-reasoning", size_reasoning},
    StoryKind{"path-finding", path_finding},
    StoryKind{"motivations", motivations},
};

constexpr auto names = [] {
  std::array<std::string_view, kinds.size()> result{};
  for (std::size_t k = 0; k < kinds.size(); ++k) result[k] = kinds[k].name;
  return result;
}();

// The only kinds with such a question; 0 where several have it.
std::int64_t kind_of_question(const Sentence& question) {
  const auto asks = [&](auto... groups) { return (groups.has(question.relation) || ...); };
  if (asks(where_is)) return objects.has(question.first) ? 2 : 0;
  if (asks(where_was)) return objects.has(question.first) ? 3 : 14;
  if (asks(what_lies, what_it_lies)) return 4;
  if (asks(who_gave, whom_gave, what_gave)) return 5;
  if (asks(how_many)) return 7;
  if (asks(what_carries)) return 8;
  if (asks(what_fears)) return 15;
  if (asks(which_colour)) return 16;
  if (asks(stands_it)) return 17;
  if (asks(is_it_bigger, does_it_fit)) return 18;
  if (asks(how_to_go)) return 19;
  return asks(is_it_in) ? 0 : 20;
}

}  // namespace

std::span<const StoryKind> story_kinds() { return kinds; }
std::span<const std::string_view> story_kind_names() { return names; }

std::int64_t kind_of(std::span<const Sentence> facts, const Sentence& question) {
  if (const std::int64_t kind = kind_of_question(question); kind != 0) return kind;
  const auto any = [&](auto&& is_such) { return std::ranges::any_of(facts, is_such); };
  if (is_it_in.has(question.relation)) {
    if (any([](const Sentence& fact) { return is_either_in.has(fact.relation); })) return 10;
    return any([](const Sentence& f) { return is_not_in.has(f.relation) || is_no_longer_in.has(f.relation); }) ? 9 : 6;
  }
  if (any([](const Sentence& fact) { return fact.first == they; })) return 13;
  if (any([](const Sentence& fact) { return people.has(fact.third); })) return 12;
  return any([](const Sentence& fact) { return pronouns.has(fact.first); }) ? 11 : 1;
}

}  // namespace retrace::stories
