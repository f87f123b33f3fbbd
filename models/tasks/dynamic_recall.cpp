#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/tasks/dynamic_recall.h>
#include <retrace/models/tasks/simulated.h>

namespace retrace {
namespace {

/// The rows of one sample: key -1 for an empty one.
struct Shown {
  Integers keys, values;
  std::int64_t asked = 0;

  explicit Shown(std::int64_t rows) : keys(static_cast<std::size_t>(rows)), values(static_cast<std::size_t>(rows)) {}

  void draw(Random& random, const DynamicRecallOptions& options) {
    Integers seen(static_cast<std::size_t>(options.keys));
    std::int64_t pairs_left = options.pairs, different = 0;
    for (std::size_t row = 0; row < keys.size(); ++row) {
      keys[row] = -1;
      if (random.integer(static_cast<std::int64_t>(keys.size() - row)) >= pairs_left) continue;
      --pairs_left;
      keys[row] = random.integer(options.keys);
      values[row] = random.integer(options.values);
      std::int64_t& count = seen[static_cast<std::size_t>(keys[row])];
      different += count == 0 ? 1 : 0;
      ++count;
    }
    std::int64_t number = random.integer(different);
    for (asked = 0; seen[static_cast<std::size_t>(asked)] == 0 || number-- > 0;) ++asked;
  }

  std::int64_t last_value() const {
    std::size_t row = keys.size() - 1;
    while (keys[row] != asked) --row;
    return values[row];
  }
  std::int64_t first_value() const {
    std::size_t row = 0;
    while (keys[row] != asked) ++row;
    return values[row];
  }
  std::int64_t newest_value() const {
    std::size_t row = keys.size() - 1;
    while (keys[row] < 0) --row;
    return values[row];
  }
};

}  // namespace

DynamicRecall::DynamicRecall(const DynamicRecallOptions& options)
    : Task("dynamic-recall", TaskKind::classification), options_(options) {
  if (options.pairs < 1 || options.keys < 2 || options.values < 2 || options.distractors < 0)
    throw ValueError(text("dynamic-recall: ", options.pairs, " pairs of ", options.keys, " keys and ", options.values,
                          " values with ", options.distractors,
                          " empty rows are not a task; take 1 or more pairs, 2 or more keys and values"));
  check_memory("dynamic-recall", "a sample",
               {checked_sum("dynamic-recall", "rows", {options.pairs, options.distractors, 1}),
                checked_sum("dynamic-recall", "keys + values", {options.keys, options.values})});
}

std::unique_ptr<Task> DynamicRecall::make(const TaskOptions& given) {
  DynamicRecallOptions options;
  options.pairs = given.length.value_or(options.pairs);
  options.keys = given.keys.value_or(options.keys);
  options.values = given.values.value_or(options.values);
  options.distractors = given.distractors.value_or(options.distractors);
  return std::make_unique<DynamicRecall>(options);
}

Baselines DynamicRecall::baselines() const {
  const auto right = [this](std::int64_t (Shown::*guess)() const) {
    Shown shown(shown_rows());
    return simulated_share([&](Random& random) {
      shown.draw(random, options_);
      return (shown.*guess)() == shown.last_value();
    });
  };
  Baselines result{.chance = 1 / static_cast<double>(options_.values),
                   .trivial = right(&Shown::newest_value),
                   .trivial_answer = "the value shown last",
                   .ceiling = 1};
  const double first = right(&Shown::first_value);
  if (first < 1) result.shortcuts.push_back({"the key's first value", first});
  return result;
}

void DynamicRecall::fill(Random& random, const Batch& batch) const {
  Shown shown(shown_rows());
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), "dynamic-recall", [&](auto zero) {
    using T = decltype(zero);
    T* row = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.size(); ++sample) {
      shown.draw(random, options_);
      for (std::size_t k = 0; k < shown.keys.size(); ++k, row += input_size())
        if (shown.keys[k] >= 0) row[shown.keys[k]] = row[options_.keys + shown.values[k]] = 1;
      row[shown.asked] = 1;
      row += input_size();
      answer[sample] = shown.last_value();
    }
  });
}

std::int64_t DynamicRecall::topic(const Example& example, std::int64_t t) const {
  return hot(columns(example.row(t), 0, options_.keys));
}

std::optional<std::int64_t> DynamicRecall::row_to_remember(const Example& example) const {
  for (std::int64_t t = shown_rows() - 1; t >= 0; --t)
    if (topic(example, t) == topic(example, shown_rows())) return t;
  return std::nullopt;
}

std::vector<Category> DynamicRecall::categories(const Example& example, std::int64_t) const {
  std::int64_t times = 0;
  for (std::int64_t t = 0; t < shown_rows(); ++t) times += topic(example, t) == topic(example, shown_rows()) ? 1 : 0;
  return {{"values of the key", times},
          {"rows since the last one", shown_rows() - row_to_remember(example).value_or(shown_rows())}};
}

std::string DynamicRecall::describe_row(const Example& example, std::int64_t t) const {
  const std::int64_t key = topic(example, t), value = hot(columns(example.row(t), options_.keys, options_.values));
  if (key < 0) return "";
  return value < 0 ? text("key ", key, "?") : text("key ", key, " has value ", value);
}

}  // namespace retrace
