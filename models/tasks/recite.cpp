#include <retrace/models/tasks/recite.h>

#include <vector>

namespace retrace {
namespace {

std::string_view name_of(Recital recital) {
  return recital == Recital::copy ? "copy" : recital == Recital::reverse ? "reverse" : "double";
}

}  // namespace

Recite::Recite(Recital recital, const ReciteOptions& options)
    : Task(name_of(recital), TaskKind::classification), recital_(recital), options_(options) {
  if (options.length < 1 || options.symbols < 2)
    throw ValueError(text(name(), ": a word of ", options.length, " characters out of ", options.symbols,
                          " is not a task; take 1 character or more out of 2 or more"));
  const std::string task(name());
  check_memory(
      task.c_str(), "a sample",
      {checked_sum(task.c_str(), "the word and its answer", {options.length, options.length, options.length, 1}),
       checked_sum(task.c_str(), "symbols + 1", {options.symbols, 1})});
}

std::unique_ptr<Task> Recite::make(Recital recital, const TaskOptions& given) {
  ReciteOptions options;
  options.length = given.length.value_or(options.length);
  return std::make_unique<Recite>(recital, options);
}

Baselines Recite::baselines() const {
  const double any = 1 / static_cast<double>(options_.symbols);
  return {.chance = any, .trivial = any, .trivial_answer = "any character", .ceiling = 1};
}

std::int64_t Recite::source(std::int64_t k) const {
  return recital_ == Recital::reverse ? options_.length - 1 - k : k % options_.length;
}

void Recite::fill(Random& random, const Batch& batch) const {
  std::vector<std::int64_t, PoolAllocator<std::int64_t>> word(static_cast<std::size_t>(options_.length));
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), name().data(), [&](auto zero) {
    using T = decltype(zero);
    T* row = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample) {
      for (std::int64_t& character : word) {
        character = random.integer(options_.symbols);
        row[character] = 1;
        row += input_size();
      }
      row[options_.symbols] = 1;
      row += (1 + answer_length()) * input_size();
      for (std::int64_t k = 0; k < answer_length(); ++k) *answer++ = word[static_cast<std::size_t>(source(k))];
    }
  });
}

std::vector<Category> Recite::categories(const Example&, std::int64_t answer) const {
  return {{"position in the answer", answer + 1}};
}

std::int64_t Recite::topic(const Example& example, std::int64_t t) const { return hot(example.row(t)); }

std::string Recite::describe_row(const Example& example, std::int64_t t) const {
  const std::int64_t symbol = topic(example, t);
  return symbol < 0 ? "" : symbol == options_.symbols ? "end" : describe_label(symbol);
}

std::string Recite::describe(const Example& example) const {
  std::string word;
  for (std::int64_t t = 0; t < options_.length; ++t)
    word += text(t == 0 || options_.symbols <= 10 ? "" : " ", describe_row(example, t));
  return text(name(), " ", word);
}

}  // namespace retrace
