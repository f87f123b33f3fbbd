#include <retrace/models/tasks/simulated.h>
#include <retrace/models/tasks/symbols/string_task.h>

#include <algorithm>

namespace retrace {
namespace {

constexpr std::int64_t longest_of_all = 10000;  // expressions are drawn by recursion
constexpr std::int64_t samples_of_one_length = 64;

std::int64_t count_words(std::string_view words) { return 1 + std::ranges::count(words, ' '); }

std::int64_t answers_of(const StringRules& rules, std::int64_t length) {
  return rules.answers_of == nullptr ? 1 : rules.answers_of(length);
}

/// The last key is the sign of the answers.
SymbolSizes sizes_of(const StringRules& rules, const StringLengths& lengths) {
  if (lengths.shortest < 1 || lengths.longest < std::max(lengths.shortest, rules.shortest) ||
      lengths.longest > longest_of_all)
    throw ValueError(text(rules.name, ": there are no strings of ", lengths.shortest, " to ", lengths.longest,
                          " symbols; take lengths from ", rules.shortest, " to ", longest_of_all));
  const std::int64_t rows = lengths.longest + answers_of(rules, lengths.longest);
  return {.shown = lengths.longest,
          .rows = rows,
          .keys = count_words(rules.symbols) + 1,
          .answers = rules.answers_of == nullptr ? 1 : rows,
          .classes = count_words(rules.classes)};
}

}  // namespace

StringTask::StringTask(const StringRules& rules, const StringLengths& lengths)
    : SymbolTask(rules.name, sizes_of(rules, lengths)),
      rules_(rules),
      shortest_(std::max(lengths.shortest, rules.shortest)) {}

std::unique_ptr<Task> StringTask::of_length(std::int64_t length) const {
  if (length < rules_.shortest)
    throw ValueError(
        text(name(), ": there are no strings of ", length, " symbols; the shortest has ", rules_.shortest));
  return std::make_unique<StringTask>(rules_, StringLengths{length, length});
}

void StringTask::draw(Random& random, std::int64_t number, SymbolSample& sample) const {
  std::int64_t length = std::ssize(sample.keys) - std::ssize(sample.answers);
  if (number % samples_of_one_length == 0) {
    length = shortest_ + random.integer(sizes().shown - shortest_ + 1);
    if (rules_.odd_lengths && length % 2 == 0) --length;
  }
  const std::int64_t answers = answers_of(rules_, length);
  sample.clear(length + answers, answers);
  std::ranges::fill(sample.keys, sizes().keys - 1);
  rules_.draw(random, std::span(sample.keys).first(static_cast<std::size_t>(length)), sample.answers);
}

Baselines StringTask::baselines() const {
  constexpr int draws = 2000;
  Random random = random_for_baselines();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(output_size()));
  SymbolSample sample;
  for (int count = 0; count < draws; ++count) {
    draw(random, 0, sample);
    for (const std::int64_t answer : sample.answers)
      if (answer != no_answer) ++counts[static_cast<std::size_t>(answer)];
  }
  std::int64_t total = 0;
  for (const std::int64_t count : counts) total += count;
  return {.chance = 1 / static_cast<double>(output_size()),
          .trivial = static_cast<double>(*std::ranges::max_element(counts)) / static_cast<double>(total),
          .trivial_answer = "always the most frequent answer",
          .ceiling = 1};
}

std::int64_t StringTask::input_length(const Example& example) const {
  std::int64_t length = 0;
  while (topic(example, length) != sizes().keys - 1) ++length;
  return length;
}

std::vector<Category> StringTask::categories(const Example& example, std::int64_t answer) const {
  const Category length{"length", input_length(example)};
  if (answer_length() > 1) return {length, {"position in the answer", answer - length.value + 1}};
  return {length, {"right answer", example.label(), word(rules_.classes, example.label())}};
}

std::string StringTask::describe_row(const Example& example, std::int64_t t) const {
  const std::int64_t symbol = topic(example, t);
  return symbol == sizes().keys - 1 ? "" : std::string(word(rules_.symbols, symbol));
}

std::string StringTask::describe(const Example& example) const {
  const std::int64_t symbols = sizes().keys - 1;
  return on_a_line(example, input_length(example), symbols * 2 - 1 != std::ssize(rules_.symbols));
}

std::string StringTask::describe_label(std::int64_t label) const { return std::string(word(rules_.classes, label)); }

}  // namespace retrace
