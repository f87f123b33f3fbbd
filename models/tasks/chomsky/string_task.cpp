#include <retrace/models/tasks/chomsky/string_task.h>
#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/tasks/simulated.h>

#include <algorithm>

namespace retrace {
namespace {

constexpr std::int64_t longest_of_all = 10000;  // expressions are drawn by recursion
constexpr std::int64_t samples_of_one_length = 64;

std::int64_t count_words(std::string_view words) { return 1 + std::ranges::count(words, ' '); }

std::string_view word(std::string_view words, std::int64_t number) {
  for (; number > 0; --number) words.remove_prefix(words.find(' ') + 1);
  return words.substr(0, words.find(' '));
}

StringLengths lengths_for(const StringRules& rules, StringLengths lengths) {
  lengths.shortest = std::max(lengths.shortest, rules.shortest);
  return lengths;
}

}  // namespace

StringTask::StringTask(const StringRules& rules, const StringLengths& lengths)
    : Task(rules.name, TaskKind::classification),
      rules_(rules),
      lengths_(lengths_for(rules, lengths)),
      symbols_(count_words(rules.symbols)),
      classes_(count_words(rules.classes)) {
  if (lengths.shortest < 1 || lengths.longest < lengths_.shortest || lengths.longest > longest_of_all)
    throw ValueError(text(rules.name, ": there are no strings of ", lengths.shortest, " to ", lengths.longest,
                          " symbols; take lengths from ", rules.shortest, " to ", longest_of_all));
  check_memory(name().data(), "a sample", {sequence_length(), input_size()});
}

std::unique_ptr<Task> StringTask::make(const StringRules& rules, const TaskOptions& given) {
  StringLengths lengths;
  lengths.longest = given.length.value_or(lengths.longest);
  return std::make_unique<StringTask>(rules, lengths);
}

std::unique_ptr<Task> StringTask::of_length(std::int64_t length) const {
  if (length < rules_.shortest)
    throw ValueError(
        text(name(), ": there are no strings of ", length, " symbols; the shortest has ", rules_.shortest));
  return std::make_unique<StringTask>(rules_, StringLengths{length, length});
}

std::int64_t StringTask::answers_of(std::int64_t length) const {
  return rules_.answers_of == nullptr ? 1 : rules_.answers_of(length);
}

std::int64_t StringTask::draw_length(Random& random) const {
  const std::int64_t length = lengths_.shortest + random.integer(lengths_.longest - lengths_.shortest + 1);
  return rules_.odd_lengths && length % 2 == 0 ? length - 1 : length;
}

Baselines StringTask::baselines() const {
  constexpr int draws = 2000;
  Random random = random_for_baselines();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes_));
  for (int draw = 0; draw < draws; ++draw) {
    const std::int64_t length = draw_length(random);
    Integers input(static_cast<std::size_t>(length)), answers(static_cast<std::size_t>(answers_of(length)), no_answer);
    rules_.draw(random, input, answers);
    for (const std::int64_t answer : answers)
      if (answer != no_answer) ++counts[static_cast<std::size_t>(answer)];
  }
  std::int64_t total = 0;
  for (const std::int64_t count : counts) total += count;
  return {.chance = 1 / static_cast<double>(classes_),
          .trivial = static_cast<double>(*std::ranges::max_element(counts)) / static_cast<double>(total),
          .trivial_answer = "always the most frequent answer",
          .ceiling = 1};
}

void StringTask::fill(Random& random, const Batch& batch) const {
  std::int64_t* lengths = batch.lengths.mutable_values<std::int64_t>().data();
  const auto labels = batch.y.mutable_values<std::int64_t>();
  std::ranges::fill(labels, no_answer);
  dispatch_real(batch.x.dtype(), name().data(), [&](auto zero) {
    using T = decltype(zero);
    T* rows = batch.x.mutable_values<T>().data();
    Integers input, answers;
    for (std::int64_t sample = 0; sample < batch.size(); ++sample, rows += sequence_length() * input_size()) {
      if (sample % samples_of_one_length == 0) {
        const std::int64_t length = draw_length(random);
        input.resize(static_cast<std::size_t>(length));
        answers.resize(static_cast<std::size_t>(answers_of(length)));
      }
      std::ranges::fill(answers, no_answer);
      rules_.draw(random, input, answers);
      T* row = rows;
      for (const std::int64_t symbol : input) row[symbol] = 1, row += input_size();
      for (std::size_t k = 0; k < answers.size(); ++k) row[symbols_] = 1, row += input_size();
      lengths[sample] = std::ssize(input) + std::ssize(answers);
      const std::int64_t place = answer_length() == 1 ? sample : sample * answer_length() + std::ssize(input);
      std::ranges::copy(answers, labels.begin() + place);
    }
  });
}

std::int64_t StringTask::topic(const Example& example, std::int64_t t) const { return hot(example.row(t)); }

std::int64_t StringTask::input_length(const Example& example) const {
  std::int64_t length = 0;
  while (topic(example, length) != symbols_) ++length;
  return length;
}

std::vector<Category> StringTask::categories(const Example& example, std::int64_t answer) const {
  const Category length{"length", input_length(example)};
  if (answer_length() > 1) return {length, {"position in the answer", answer - length.value + 1}};
  return {length, {"right answer", example.label(), word(rules_.classes, example.label())}};
}

std::string StringTask::describe_row(const Example& example, std::int64_t t) const {
  const std::int64_t symbol = topic(example, t);
  return symbol == symbols_ ? "" : std::string(word(rules_.symbols, symbol));
}

std::string StringTask::describe(const Example& example) const {
  std::string line(name());
  const bool has_words = symbols_ * 2 - 1 != std::ssize(rules_.symbols);
  for (std::int64_t t = 0; t < input_length(example); ++t)
    line += (t == 0 || has_words ? " " : "") + describe_row(example, t);
  return line;
}

std::string StringTask::describe_label(std::int64_t label) const { return std::string(word(rules_.classes, label)); }

}  // namespace retrace
