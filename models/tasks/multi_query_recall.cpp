#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/tasks/multi_query_recall.h>

#include <algorithm>
#include <cmath>

namespace retrace {

MultiQueryRecall::MultiQueryRecall(const MultiQueryRecallOptions& options)
    : Task("multi-query-recall", TaskKind::classification), options_(options) {
  constexpr double power = -0.99;
  constexpr const char* function = "multi-query-recall";
  if (options.pairs < 1 || options.keys < options.pairs || options.values < 2 || options.length / 4 < options.pairs)
    throw ValueError(text(function, ": ", options.length, " rows do not hold ", options.pairs, " pairs of ",
                          options.keys, " keys and ", options.values,
                          " values with their questions; take 1 or more pairs, no fewer keys, 2 or more values, and 4 ",
                          "or more rows per pair"));
  check_memory(function, "a sample",
               {options.length, checked_sum(function, "keys + values", {options.keys, options.values})});
  double sum = 0;
  for (std::int64_t place = 0; place < answer_length() / 2; ++place)
    up_to_place_.push_back(sum += std::pow(static_cast<double>(place + 1), power));
}

std::unique_ptr<Task> MultiQueryRecall::make(const TaskOptions& given) {
  MultiQueryRecallOptions options;
  options.length = given.length.value_or(options.length);
  options.pairs = given.pairs.value_or(options.pairs);
  options.keys = given.keys.value_or(options.keys);
  options.values = given.values.value_or(options.values);
  return std::make_unique<MultiQueryRecall>(options);
}

Baselines MultiQueryRecall::baselines() const {
  // One of the values shown is right if it belongs to this key, or if the other has the same value.
  const auto pairs = static_cast<double>(options_.pairs), values = static_cast<double>(options_.values);
  return {.chance = 1 / values,
          .trivial = 1 / pairs + (1 - 1 / pairs) / values,
          .trivial_answer = "any value shown",
          .ceiling = 1};
}

std::int64_t MultiQueryRecall::draw_place(Random& random) const {
  const double point = random.uniform() * up_to_place_.back();
  const auto found = std::upper_bound(up_to_place_.begin(), up_to_place_.end() - 1, point);
  return found - up_to_place_.begin();
}

void MultiQueryRecall::fill(Random& random, const Batch& batch) const {
  const auto pairs = static_cast<std::size_t>(options_.pairs);
  Integers keys(pairs), places(pairs);
  const auto labels = batch.y.mutable_values<std::int64_t>();
  std::ranges::fill(labels, no_answer);
  std::int64_t* answers = labels.data();
  dispatch_real(batch.x.dtype(), "multi-query-recall", [&](auto zero) {
    using T = decltype(zero);
    T* rows = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.size(); ++sample) {
      draw_different(random, options_.keys, keys);
      T* questions = rows + 2 * options_.pairs * input_size();
      for (std::size_t pair = 0; pair < pairs; ++pair, rows += 2 * input_size()) {
        const auto drawn = places.begin() + static_cast<std::ptrdiff_t>(pair);
        do {
          *drawn = draw_place(random);
        } while (std::find(places.begin(), drawn, *drawn) != drawn);
        const std::int64_t value = random.integer(options_.values);
        rows[keys[pair]] = rows[input_size() + options_.keys + value] = 1;
        questions[2 * *drawn * input_size() + keys[pair]] = 1;
        answers[2 * *drawn] = value;
      }
      rows += answer_length() * input_size();
      answers += answer_length();
    }
  });
}

std::int64_t MultiQueryRecall::topic(const Example& example, std::int64_t t) const {
  const std::int64_t symbol = hot(example.row(t));
  return symbol < options_.keys ? symbol : -1;
}

std::vector<Category> MultiQueryRecall::categories(const Example& example, std::int64_t answer) const {
  const std::int64_t asked = 2 * options_.pairs + answer;
  std::int64_t shown = 0;
  while (topic(example, shown) != topic(example, asked)) shown += 2;
  return {{"position of the pair", shown / 2 + 1}, {"rows since the pair", asked - shown}};
}

std::string MultiQueryRecall::describe_row(const Example& example, std::int64_t t) const {
  const std::int64_t symbol = hot(example.row(t));
  if (symbol < 0) return "";
  if (symbol >= options_.keys) return text("value ", symbol - options_.keys);
  return text("key ", symbol, t < 2 * options_.pairs ? "" : "?");
}

}  // namespace retrace
