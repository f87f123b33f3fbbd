#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/tasks/simulated.h>
#include <retrace/models/zoo/babi_qa/babi_qa.h>
#include <retrace/models/zoo/babi_qa/story.h>

#include <algorithm>

namespace retrace {
namespace {

using stories::noun_count;
using stories::relation_count;
using stories::Sentence;
using stories::Story;

constexpr std::int64_t width = relation_count + 3 * noun_count;

/// Tells a new story of the kind, or of any for 0. Returns the kind.
std::int64_t tell(Random& random, std::int64_t kind, Story& story) {
  if (kind == 0) kind = 1 + random.integer(std::ssize(stories::story_kinds()));
  story.clear();
  stories::story_kinds()[static_cast<std::size_t>(kind - 1)].tell(random, story);
  return kind;
}

template <class T> void write(const Sentence& sentence, T* row) {
  row[sentence.relation] = 1;
  row += relation_count;
  for (const stories::Word noun : {sentence.first, sentence.second, sentence.third}) {
    if (noun != stories::none) row[noun] = 1;
    row += noun_count;
  }
}

/// Without a relation if the row is blank.
Sentence sentence_in(const Example& example, std::int64_t t) {
  const std::span<const double> row = example.row(t);
  const auto noun = [row](std::int64_t k) { return hot(columns(row, relation_count + k * noun_count, noun_count)); };
  return {hot(columns(row, 0, relation_count)), noun(0), noun(1), noun(2)};
}

std::int64_t number_of_kind(const std::string& given) {
  const std::span<const std::string_view> names = babi_kind_names();
  const auto found = std::ranges::find(names, given);
  if (found != names.end()) return found - names.begin() + 1;
  if (given.find_first_not_of("-0123456789") != std::string::npos || given.empty())
    throw ValueError(unknown_name("babi-qa", "kind", given, names));
  for (std::int64_t kind = 1; kind <= std::ssize(names); ++kind)
    if (given == std::to_string(kind)) return kind;
  throw ValueError(text("babi-qa: there is no kind ", given, "; give a number from 1 to ", names.size(),
                        ", or a name such as ", names[1]));
}

}  // namespace

BabiQa::BabiQa(const BabiQaOptions& options) : Task("babi-qa", TaskKind::classification), options_(options) {
  const std::int64_t kinds = std::ssize(babi_kind_names());
  if (options.kind < 0 || options.kind > kinds)
    throw ValueError(text("babi-qa: there is no kind ", options.kind, "; give 1 to ", kinds, ", or 0 for all"));
  if (options.facts < stories::fewest_facts)
    throw ValueError(text("babi-qa: some kinds do not fit into stories of at most ", options.facts, " facts; take ",
                          stories::fewest_facts, " or more"));
  check_memory("babi-qa", "a sample", {checked_sum("babi-qa", "facts + 1", {options.facts, 1}), width});
}

std::unique_ptr<Task> BabiQa::make(const TaskOptions& given) {
  BabiQaOptions options;
  if (given.kind) options.kind = number_of_kind(*given.kind);
  options.facts = given.facts.value_or(options.facts);
  return std::make_unique<BabiQa>(options);
}

std::int64_t BabiQa::input_size() const { return width; }
std::int64_t BabiQa::output_size() const { return stories::answer_count; }

Baselines BabiQa::baselines() const {
  std::vector<std::array<std::int64_t, stories::answer_count>> counts(babi_kind_names().size());
  Random random = random_for_baselines();
  Story story(options_.facts);
  for (int draw = 0; draw < draws_for_baselines; ++draw) {
    const std::int64_t kind = tell(random, options_.kind, story);
    ++counts[static_cast<std::size_t>(kind - 1)][static_cast<std::size_t>(story.answer())];
  }
  double right = 0;
  for (const auto& of_kind : counts) right += static_cast<double>(*std::ranges::max_element(of_kind));
  return {.chance = 1 / static_cast<double>(output_size()),
          .trivial = right / draws_for_baselines,
          .trivial_answer = "the most frequent answer of each kind",
          .ceiling = 1};
}

void BabiQa::fill(Random& random, const Batch& batch) const {
  Story story(options_.facts);
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), "babi-qa", [&](auto zero) {
    using T = decltype(zero);
    T* end = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.size(); ++sample) {
      tell(random, options_.kind, story);
      end += sequence_length() * width;
      T* row = end - (std::ssize(story.facts()) + 1) * width;
      for (const Sentence& fact : story.facts()) write(fact, row), row += width;
      write(story.question(), row);
      answer[sample] = story.answer();
    }
  });
}

std::vector<Category> BabiQa::categories(const Example& example, std::int64_t) const {
  std::vector<Sentence> facts;
  for (std::int64_t t = 0; t < example.length() - 1; ++t)
    if (const Sentence fact = sentence_in(example, t); fact.relation != stories::none) facts.push_back(fact);
  const std::int64_t kind = stories::kind_of(facts, sentence_in(example, example.length() - 1));
  return {{"kind", kind, babi_kind_names()[static_cast<std::size_t>(kind - 1)]}, {"facts", std::ssize(facts)}};
}

std::string BabiQa::describe_row(const Example& example, std::int64_t t) const {
  const Sentence sentence = sentence_in(example, t);
  return sentence.relation == stories::none ? "" : stories::in_words(sentence);
}

std::string BabiQa::describe(const Example& example) const {
  std::string lines;
  for (std::int64_t t = 0; t < example.length(); ++t)
    if (const std::string row = describe_row(example, t); !row.empty()) lines += (lines.empty() ? "" : "\n") + row;
  return lines;
}

std::string BabiQa::describe_label(std::int64_t label) const { return std::string(stories::answer_in_words(label)); }

std::int64_t BabiQa::topic(const Example& example, std::int64_t t) const { return sentence_in(example, t).first; }

std::span<const std::string_view> babi_kind_names() { return stories::story_kind_names(); }

}  // namespace retrace
