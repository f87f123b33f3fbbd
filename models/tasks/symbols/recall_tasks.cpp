// Values that are found by their keys.
#include <retrace/models/tasks/simulated.h>
#include <retrace/models/tasks/symbols/sequence_task.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace retrace {
namespace {

std::size_t place(std::int64_t number) { return static_cast<std::size_t>(number); }

Baselines any_value_shown(const SymbolSizes& sizes, double trivial) {
  return {.chance = 1 / static_cast<double>(sizes.classes),
          .trivial = trivial,
          .trivial_answer = "any value shown",
          .ceiling = 1};
}

/// The last row that shows the key of the last row.
std::optional<std::int64_t> last_row_of_key(const SequenceTask& task, const Example& example) {
  const std::int64_t question = example.length() - 1;
  for (std::int64_t t = question - 1; t >= 0; --t)
    if (task.topic(example, t) == task.topic(example, question)) return t;
  return std::nullopt;
}

std::string describe_pair(const SequenceTask& task, const Example& example, std::int64_t t) {
  const std::int64_t key = task.topic(example, t), value = task.value(example, t);
  if (key < 0) return "";
  return value < 0 ? text("key ", key, "?") : text("key ", key, " has value ", value);
}

// recall

SymbolSizes recall_sizes(const char* task, const TaskOptions& options) {
  const std::int64_t pairs = *options.length, keys = *options.keys, values = *options.values;
  if (pairs < 1 || keys < pairs || values < pairs)
    throw ValueError(text(task, ": ", pairs, " pairs of different ones of ", keys, " keys and ", values,
                          " values cannot be drawn; take 1 or more pairs, and no fewer keys and values"));
  return {.shown = pairs,
          .rows = checked_sum(task, "pairs + 1", {pairs, 1}),
          .keys = keys,
          .values = values,
          .classes = values};
}

void draw_recall(Random& random, const SymbolSizes& sizes, SymbolSample& sample) {
  draw_different(random, sizes.keys, std::span(sample.keys).first(place(sizes.shown)));
  draw_different(random, sizes.values, std::span(sample.values).first(place(sizes.shown)));
  const std::size_t asked = place(random.integer(sizes.shown));
  sample.keys.back() = sample.keys[asked];
  sample.answers[0] = sample.values[asked];
}

std::vector<Category> position_of_pair(const SequenceTask& task, const Example& example, std::int64_t) {
  return {{"position of the pair", last_row_of_key(task, example).value_or(-1) + 1}};
}

// dynamic-recall

SymbolSizes dynamic_recall_sizes(const char* task, const TaskOptions& options) {
  const std::int64_t pairs = *options.length, keys = *options.keys, values = *options.values,
                     distractors = *options.distractors;
  if (pairs < 1 || keys < 2 || values < 2 || distractors < 0)
    throw ValueError(text(task, ": ", pairs, " pairs of ", keys, " keys and ", values, " values with ", distractors,
                          " empty rows are not a task; take 1 or more pairs, 2 or more keys and values"));
  return {.shown = pairs,
          .rows = checked_sum(task, "rows", {pairs, distractors, 1}),
          .keys = keys,
          .values = values,
          .classes = values};
}

void draw_dynamic_recall(Random& random, const SymbolSizes& sizes, SymbolSample& sample) {
  Integers seen(place(sizes.keys));
  std::int64_t pairs_left = sizes.shown, different = 0;
  for (std::int64_t t = 0; t < sizes.rows - 1; ++t) {
    if (random.integer(sizes.rows - 1 - t) >= pairs_left) continue;
    --pairs_left;
    const std::int64_t key = sample.keys[place(t)] = random.integer(sizes.keys);
    sample.values[place(t)] = random.integer(sizes.values);
    different += seen[place(key)]++ == 0 ? 1 : 0;
  }
  std::int64_t number = random.integer(different), asked = 0;
  for (; seen[place(asked)] == 0 || number-- > 0;) ++asked;
  const auto shown = std::ranges::find(sample.keys.rbegin(), sample.keys.rend(), asked);
  sample.answers[0] = sample.values[place(sample.keys.rend() - shown - 1)];
  sample.keys.back() = asked;
}

/// How often the value of a row is the answer, which is_guessed finds in a sample.
template <class IsGuessed> double share_of_row(const SymbolSizes& sizes, IsGuessed&& is_guessed) {
  SymbolSample sample;
  return simulated_share([&](Random& random) {
    sample.clear(sizes.rows, sizes.answers);
    draw_dynamic_recall(random, sizes, sample);
    std::size_t t = 0;
    while (!is_guessed(sample, t)) ++t;
    return sample.values[t] == sample.answers[0];
  });
}

/// Trivial: the value shown last.
Baselines dynamic_recall_baselines(const SymbolSizes& sizes) {
  const auto is_newest = [](const SymbolSample& sample, std::size_t t) {
    return std::all_of(sample.values.begin() + static_cast<std::ptrdiff_t>(t) + 1, sample.values.end(),
                       [](std::int64_t value) { return value < 0; });
  };
  const auto is_first = [](const SymbolSample& sample, std::size_t t) { return sample.keys[t] == sample.keys.back(); };
  Baselines result = any_value_shown(sizes, share_of_row(sizes, is_newest));
  result.trivial_answer = "the value shown last";
  if (const double first = share_of_row(sizes, is_first); first < 1)
    result.shortcuts.push_back({"the key's first value", first});
  return result;
}

/// How many values the key had, and how many rows ago the last one was shown.
std::vector<Category> values_of_key(const SequenceTask& task, const Example& example, std::int64_t) {
  const std::int64_t question = example.length() - 1;
  std::int64_t times = 0;
  for (std::int64_t t = 0; t < question; ++t) times += task.topic(example, t) == task.topic(example, question) ? 1 : 0;
  return {{"values of the key", times},
          {"rows since the last one", question - last_row_of_key(task, example).value_or(question)}};
}

// multi-query-recall

SymbolSizes multi_query_sizes(const char* task, const TaskOptions& options) {
  const std::int64_t length = *options.length, pairs = *options.pairs, keys = *options.keys, values = *options.values;
  if (pairs < 1 || keys < pairs || values < 2 || length / 4 < pairs)
    throw ValueError(text(task, ": ", length, " rows do not hold ", pairs, " pairs of ", keys, " keys and ", values,
                          " values with their questions; take 1 or more pairs, no fewer keys, 2 or more values, and 4 ",
                          "or more rows per pair"));
  return {
      .shown = pairs, .rows = length, .keys = keys, .values = values, .answers = length - 2 * pairs, .classes = values};
}

using Doubles = std::vector<double, PoolAllocator<double>>;

/// Sums of the weights of the places of questions, g = 0, 1, ...: those of all up to g.
Doubles sums_of_weights(std::int64_t places) {
  constexpr double power = -0.99;
  Doubles sums;
  sums.reserve(place(places));
  double sum = 0;
  for (std::int64_t g = 0; g < places; ++g) sums.push_back(sum += std::pow(static_cast<double>(g + 1), power));
  return sums;
}

std::int64_t draw_place(Random& random, const Doubles& sums) {
  const double point = random.uniform() * sums.back();
  return std::upper_bound(sums.begin(), sums.end() - 1, point) - sums.begin();
}

void draw_multi_query_recall(Random& random, const SymbolSizes& sizes, SymbolSample& sample) {
  const Doubles sums = sums_of_weights(sizes.answers / 2);
  Integers keys(place(sizes.shown));
  draw_different(random, sizes.keys, keys);
  for (std::size_t pair = 0; pair < keys.size(); ++pair) {
    std::size_t question = 0;
    do {
      question = place(2 * draw_place(random, sums));
    } while (sample.answers[question] != no_answer);
    sample.keys[2 * pair] = sample.keys[2 * keys.size() + question] = keys[pair];
    sample.values[2 * pair + 1] = sample.answers[question] = random.integer(sizes.values);
  }
}

Baselines multi_query_baselines(const SymbolSizes& sizes) {
  // One of the values shown is right if it belongs to this key, or if the other has the same value.
  const auto pairs = static_cast<double>(sizes.shown), values = static_cast<double>(sizes.values);
  return any_value_shown(sizes, 1 / pairs + (1 - 1 / pairs) / values);
}

/// The position of the pair, and the rows since then.
std::vector<Category> distance_of_pair(const SequenceTask& task, const Example& example, std::int64_t answer) {
  const std::int64_t asked = 2 * task.sizes().shown + answer;
  std::int64_t shown = 0;
  while (task.topic(example, shown) != task.topic(example, asked)) shown += 2;
  return {{"position of the pair", shown / 2 + 1}, {"rows since the pair", asked - shown}};
}

std::string describe_key_or_value(const SequenceTask& task, const Example& example, std::int64_t t) {
  const std::int64_t key = task.topic(example, t), value = task.value(example, t);
  if (key >= 0) return text("key ", key, t < 2 * task.sizes().shown ? "" : "?");
  return value < 0 ? "" : text("value ", value);
}

}  // namespace

std::span<const SequenceRules> recall_tasks() {
  static const std::array rules{
      SequenceRules{
          .name = "recall",
          .option_names = "length, keys, values",
          .defaults = {.length = 6, .keys = 10, .values = 10},
          .sizes = recall_sizes,
          .draw = draw_recall,
          .baselines =
              [](const SymbolSizes& sizes) { return any_value_shown(sizes, 1 / static_cast<double>(sizes.shown)); },
          .categories = position_of_pair,
          .describe_row = describe_pair,
          .row_to_remember = last_row_of_key},
      SequenceRules{.name = "dynamic-recall",
                    .option_names = "length, keys, values, distractors",
                    .defaults = {.length = 10, .keys = 5, .values = 10, .distractors = 6},
                    .sizes = dynamic_recall_sizes,
                    .draw = draw_dynamic_recall,
                    .baselines = dynamic_recall_baselines,
                    .categories = values_of_key,
                    .describe_row = describe_pair,
                    .row_to_remember = last_row_of_key},
      SequenceRules{.name = "multi-query-recall",
                    .option_names = "length, keys, values, pairs",
                    .defaults = {.length = 64, .keys = 32, .values = 32, .pairs = 8},
                    .sizes = multi_query_sizes,
                    .draw = draw_multi_query_recall,
                    .baselines = multi_query_baselines,
                    .categories = distance_of_pair,
                    .describe_row = describe_key_or_value},
  };
  return rules;
}

}  // namespace retrace
