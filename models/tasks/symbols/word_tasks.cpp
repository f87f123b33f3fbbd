// Symbols that are repeated, sorted, paired and counted.
#include <retrace/models/tasks/symbols/sequence_task.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace retrace {
namespace {

using Word = std::span<std::int64_t>;

/// The sizes of a sample: the word, a row with the end marker, and empty rows for `times` the word.
SymbolSizes sizes_of_word(const char* task, std::int64_t length, std::int64_t symbols, std::int64_t times) {
  const std::int64_t answers = checked_product(task, "the length of the answer", {times, length});
  return {.shown = length,
          .rows = checked_sum(task, "the word and its answer", {length, 1, answers}),
          .keys = checked_sum(task, "symbols + 1", {symbols, 1}),
          .answers = answers,
          .classes = symbols};
}

std::string describe_symbol(const SequenceTask& task, const Example& example, std::int64_t t) {
  const std::int64_t symbol = task.topic(example, t);
  return symbol < 0 ? "" : symbol == task.sizes().classes ? "end" : task.describe_label(symbol);
}

/// The rows of the word, after which its end is marked.
Word word_in(SymbolSample& sample, const SymbolSizes& sizes) {
  sample.keys[static_cast<std::size_t>(sizes.shown)] = sizes.classes;
  return Word(sample.keys).first(static_cast<std::size_t>(sizes.shown));
}

/// The answers of a word cannot be guessed.
Baselines any_class(const SymbolSizes& sizes, std::string_view answer) {
  const double any = 1 / static_cast<double>(sizes.classes);
  return {.chance = any, .trivial = any, .trivial_answer = answer, .ceiling = 1};
}

// copy, reverse and double

template <int times> SymbolSizes recital_sizes(const char* task, const TaskOptions& options) {
  const std::int64_t length = *options.length, symbols = *options.vocabulary;
  if (length < 1 || symbols < 2)
    throw ValueError(text(task, ": a word of ", length, " characters out of ", symbols,
                          " is not a task; take 1 character or more out of 2 or more"));
  return sizes_of_word(task, length, symbols, times);
}

template <bool backwards> void draw_recital(Random& random, const SymbolSizes& sizes, SymbolSample& sample) {
  const Word word = word_in(sample, sizes);
  draw_evenly(random, sizes.classes, word);
  for (std::size_t k = 0; k < sample.answers.size(); ++k)
    sample.answers[k] = word[backwards ? word.size() - 1 - k : k % word.size()];
}

std::string describe_word(const SequenceTask& task, const Example& example) {
  return task.on_a_line(example, task.sizes().shown, task.sizes().classes > 10);
}

template <int times, bool backwards> SequenceRules recital(std::string_view name) {
  return {.name = name,
          .option_names = "length",
          .defaults = {.length = 10, .vocabulary = 10},
          .sizes = recital_sizes<times>,
          .draw = draw_recital<backwards>,
          .baselines = [](const SymbolSizes& sizes) { return any_class(sizes, "any character"); },
          .categories =
              [](const SequenceTask&, const Example&, std::int64_t answer) {
                return std::vector<Category>{{"position in the answer", answer + 1}};
              },
          .describe_row = describe_symbol,
          .describe = describe_word};
}

// sorting

SymbolSizes sorting_sizes(const char* task, const TaskOptions& options) {
  const std::int64_t length = *options.length, values = *options.values;
  if (length < 2 || values < length)
    throw ValueError(text("sorting: ", length, " different numbers out of ", values,
                          " cannot be sorted; take 2 or more numbers, and no fewer values"));
  return sizes_of_word(task, length, values, 1);
}

void draw_numbers(Random& random, const SymbolSizes& sizes, SymbolSample& sample) {
  const Word numbers = word_in(sample, sizes);
  draw_different(random, sizes.classes, numbers);
  std::ranges::copy(numbers, sample.answers.begin());
  std::ranges::sort(sample.answers);
}

double log_of_choices(std::int64_t from, std::int64_t count) {
  const auto log_factorial = [](std::int64_t n) { return std::lgamma(static_cast<double>(n) + 1); };
  return log_factorial(from) - log_factorial(count) - log_factorial(from - count);
}

Baselines most_frequent_numbers(const SymbolSizes& sizes) {
  // The k-th of L numbers is v with the probability C(v, k) C(V - 1 - v, L - 1 - k) / C(V, L), k and v from 0.
  const std::int64_t length = sizes.shown, values = sizes.classes;
  double sum = 0;
  for (std::int64_t k = 0; k < length; ++k) {
    double best = 0;
    for (std::int64_t v = k; v <= values - length + k; ++v)
      best = std::max(best, std::exp(log_of_choices(v, k) + log_of_choices(values - 1 - v, length - 1 - k) -
                                     log_of_choices(values, length)));
    sum += best;
  }
  return {.chance = 1 / static_cast<double>(values),
          .trivial = sum / static_cast<double>(length),
          .trivial_answer = "the most frequent number of each place",
          .ceiling = 1};
}

/// The place, and by how much the number is above the one before it.
std::vector<Category> place_in_order(const SequenceTask&, const Example& example, std::int64_t answer) {
  const std::int64_t before = answer == 0 ? -1 : example.label(answer - 1);
  return {{"place in the answer", answer + 1}, {"above the number before", example.label(answer) - before}};
}

// pair-matching

SymbolSizes pair_matching_sizes(const char* task, const TaskOptions& options) {
  const std::int64_t length = *options.length, vocabulary = *options.vocabulary;
  if (length < 3) throw ValueError(text(task, ": ", length, " rows hold no pair and its question; ask for 4 or more"));
  const std::int64_t rows = checked_sum(task, "length", {length, length % 2}), elements = rows / 4 * 2;
  if (vocabulary < elements)
    throw ValueError(text(task, ": ", elements, " different elements do not come from a vocabulary of ", vocabulary,
                          "; enlarge the vocabulary or shorten the sequence"));
  return {.shown = elements, .rows = rows, .keys = vocabulary, .values = 1, .classes = vocabulary};
}

void draw_pairs(Random& random, const SymbolSizes& sizes, SymbolSample& sample) {
  draw_different(random, sizes.keys, std::span(sample.keys).first(static_cast<std::size_t>(sizes.shown)));
  const std::size_t asked = static_cast<std::size_t>(random.integer(sizes.shown)),
                    question = static_cast<std::size_t>(sizes.shown);
  sample.keys[question] = sample.keys[asked];
  sample.values[question] = 0;
  sample.answers[0] = sample.keys[asked ^ 1];  // 2p and 2p + 1 are a pair
}

Baselines pair_matching_baselines(const SymbolSizes& sizes) {
  return {.chance = 1 / static_cast<double>(sizes.keys),
          .trivial = 1 / static_cast<double>(sizes.shown - 1),
          .trivial_answer = "any other one shown",
          .ceiling = 1,
          .original = 0.075};
}

std::optional<std::int64_t> row_of_answer(const SequenceTask& task, const Example& example) {
  for (std::int64_t t = 0; t < task.sizes().shown; ++t)
    if (task.topic(example, t) == example.label()) return t;
  return std::nullopt;
}

/// The place of the pair that is asked for, and its side.
std::vector<Category> pair_and_side(const SequenceTask& task, const Example& example, std::int64_t) {
  const std::int64_t answer = row_of_answer(task, example).value_or(0);
  return {{"pair", answer / 2 + 1},
          {"asked for", answer % 2, answer % 2 == 0 ? "the first of the pair" : "the second of the pair"}};
}

std::string describe_element(const SequenceTask& task, const Example& example, std::int64_t t) {
  const std::int64_t element = task.topic(example, t);
  if (element < 0) return "";
  if (task.value(example, t) == 0) return text("beside which one was ", element, "?");
  return text("element ", element, " (pair ", t / 2 + 1, ")");
}

// parity

SymbolSizes parity_sizes(const char* task, const TaskOptions& options) {
  const std::int64_t length = *options.length;
  if (length < 1) throw ValueError(text(task, ": a word of ", length, " bits has none; ask for 1 or more"));
  return {.shown = length, .rows = length, .keys = 1, .answers = length, .classes = 2};
}

void draw_bits(Random& random, const SymbolSizes&, SymbolSample& sample) {
  std::int64_t odd = 0;
  for (std::size_t t = 0; t < sample.keys.size(); ++t) {
    sample.keys[t] = random.integer(2);
    sample.answers[t] = odd ^= sample.keys[t];
  }
}

std::string describe_bits(const SequenceTask& task, const Example& example) {
  std::string bits;
  for (std::int64_t t = 0; t < example.length(); ++t) bits += task.describe_row(example, t);
  return bits;
}

}  // namespace

std::span<const SequenceRules> word_tasks() {
  static const std::array rules{
      recital<1, false>("copy"),
      recital<1, true>("reverse"),
      recital<2, false>("double"),
      SequenceRules{
          .name = "sorting",
          .option_names = "length, values",
          .defaults = {.length = 8, .values = 20},
          .sizes = sorting_sizes,
          .draw = draw_numbers,
          .baselines = most_frequent_numbers,
          .categories = place_in_order,
          .describe_row = describe_symbol,
          .describe = [](const SequenceTask& task,
                         const Example& example) { return task.on_a_line(example, task.sizes().shown, true); }},
      SequenceRules{.name = "pair-matching",
                    .option_names = "length, vocabulary",
                    .defaults = {.length = 10, .vocabulary = 20},
                    .sizes = pair_matching_sizes,
                    .draw = draw_pairs,
                    .baselines = pair_matching_baselines,
                    .categories = pair_and_side,
                    .describe_row = describe_element,
                    .row_to_remember = row_of_answer},
      SequenceRules{.name = "parity",
                    .option_names = "length",
                    .defaults = {.length = 40},
                    .sizes = parity_sizes,
                    .draw = draw_bits,
                    .baselines = [](const SymbolSizes& sizes) { return any_class(sizes, "either"); },
                    .categories =
                        [](const SequenceTask&, const Example&, std::int64_t answer) {
                          return std::vector<Category>{{"bits read", answer + 1}};
                        },
                    .describe_row = [](const SequenceTask& task, const Example& example,
                                       std::int64_t t) { return std::to_string(task.topic(example, t)); },
                    .describe = describe_bits,
                    .classes = "e o"},
  };
  return rules;
}

}  // namespace retrace
