#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/tasks/recall.h>

namespace retrace {

Recall::Recall(const RecallOptions& options) : Task("recall", TaskKind::classification), options_(options) {
  if (options.pairs < 1 || options.keys < options.pairs || options.values < options.pairs)
    throw ValueError(text("recall: ", options.pairs, " pairs of different ones of ", options.keys, " keys and ",
                          options.values,
                          " values cannot be drawn; take 1 or more pairs, and no fewer keys and values"));
  check_memory("recall", "a sample",
               {checked_sum("recall", "pairs + 1", {options.pairs, 1}),
                checked_sum("recall", "keys + values", {options.keys, options.values})});
}

std::unique_ptr<Task> Recall::make(const TaskOptions& given) {
  RecallOptions options;
  options.pairs = given.length.value_or(options.pairs);
  options.keys = given.keys.value_or(options.keys);
  options.values = given.values.value_or(options.values);
  return std::make_unique<Recall>(options);
}

Baselines Recall::baselines() const {
  return {.chance = 1 / static_cast<double>(options_.values),
          .trivial = 1 / static_cast<double>(options_.pairs),
          .trivial_answer = "any value shown",
          .ceiling = 1};
}

void Recall::fill(Random& random, const Batch& batch) const {
  const auto pairs = static_cast<std::size_t>(options_.pairs);
  Integers keys(pairs), values(pairs);
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), "recall", [&](auto zero) {
    using T = decltype(zero);
    T* row = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample) {
      draw_different(random, options_.keys, keys);
      draw_different(random, options_.values, values);
      for (std::size_t pair = 0; pair < pairs; ++pair, row += input_size())
        row[keys[pair]] = row[options_.keys + values[pair]] = 1;
      const auto asked = static_cast<std::size_t>(random.integer(options_.pairs));
      row[keys[asked]] = 1;
      row += input_size();
      answer[sample] = values[asked];
    }
  });
}

std::int64_t Recall::topic(const Example& example, std::int64_t t) const {
  return hot(columns(example.row(t), 0, options_.keys));
}

std::optional<std::int64_t> Recall::row_to_remember(const Example& example) const {
  for (std::int64_t t = 0; t < options_.pairs; ++t)
    if (topic(example, t) == topic(example, options_.pairs)) return t;
  return std::nullopt;
}

std::vector<Category> Recall::categories(const Example& example, std::int64_t) const {
  return {{"position of the pair", row_to_remember(example).value_or(-1) + 1}};
}

std::string Recall::describe_row(const Example& example, std::int64_t t) const {
  const std::int64_t value = hot(columns(example.row(t), options_.keys, options_.values));
  return value < 0 ? text("key ", topic(example, t), "?") : text("key ", topic(example, t), " has value ", value);
}

}  // namespace retrace
