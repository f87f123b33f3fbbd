#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/tasks/pair_matching.h>

namespace retrace {
namespace {

/// Rounds to an even number of rows.
std::int64_t rounded_up(std::int64_t length) {
  return length < 0 ? length : checked_sum("pair-matching", "length", {length, length % 2});
}

}  // namespace

PairMatching::PairMatching(const PairMatchingOptions& options)
    : Task("pair-matching", TaskKind::classification), options_{rounded_up(options.length), options.vocabulary} {
  if (options_.length < 4)
    throw ValueError(text("pair-matching: ", options.length, " rows hold no pair and its question; ask for 4 or more"));
  if (options_.vocabulary < elements())
    throw ValueError(text("pair-matching: ", elements(), " different elements do not come from a vocabulary of ",
                          options.vocabulary, "; enlarge the vocabulary or shorten the sequence"));
  check_memory("pair-matching", "a sample",
               {options_.length, checked_sum("pair-matching", "vocabulary + 1", {options.vocabulary, 1})});
}

std::unique_ptr<Task> PairMatching::make(const TaskOptions& given) {
  PairMatchingOptions options;
  options.length = given.length.value_or(options.length);
  options.vocabulary = given.vocabulary.value_or(options.vocabulary);
  return std::make_unique<PairMatching>(options);
}

Baselines PairMatching::baselines() const {
  return {.chance = 1 / static_cast<double>(options_.vocabulary),
          .trivial = 1 / static_cast<double>(elements() - 1),
          .trivial_answer = "any other one shown",
          .ceiling = 1,
          .original = 0.075};
}

void PairMatching::fill(Random& random, const Batch& batch) const {
  const std::int64_t width = input_size();
  Integers shown(static_cast<std::size_t>(elements()));
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), "pair-matching", [&](auto zero) {
    using T = decltype(zero);
    T* sequence = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample, sequence += options_.length * width) {
      draw_different(random, options_.vocabulary, shown);
      T* row = sequence;
      for (const std::int64_t element : shown) {
        row[element] = 1;
        row += width;
      }
      const auto asked = static_cast<std::size_t>(random.integer(elements()));
      row[shown[asked]] = 1;
      row[width - 1] = 1;
      answer[sample] = shown[asked ^ 1];  // 2p and 2p + 1 are a pair
    }
  });
}

std::int64_t PairMatching::topic(const Example& example, std::int64_t t) const {
  return hot(columns(example.row(t), 0, options_.vocabulary));
}

std::optional<std::int64_t> PairMatching::row_to_remember(const Example& example) const {
  for (std::int64_t t = 0; t < elements(); ++t)
    if (topic(example, t) == example.label()) return t;
  return std::nullopt;
}

std::vector<Category> PairMatching::categories(const Example& example, std::int64_t) const {
  const std::int64_t answer = row_to_remember(example).value_or(0);
  return {{"pair", answer / 2 + 1},
          {"asked for", answer % 2, answer % 2 == 0 ? "the first of the pair" : "the second of the pair"}};
}

std::string PairMatching::describe_row(const Example& example, std::int64_t t) const {
  const std::int64_t element = topic(example, t);
  if (element < 0) return "";
  if (example.row(t).back() != 0) return text("beside which one was ", element, "?");
  return text("element ", element, " (pair ", t / 2 + 1, ")");
}

}  // namespace retrace
