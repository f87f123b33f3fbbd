#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/tasks/sorting.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

double log_of_choices(std::int64_t from, std::int64_t count) {
  const auto log_factorial = [](std::int64_t n) { return std::lgamma(static_cast<double>(n) + 1); };
  return log_factorial(from) - log_factorial(count) - log_factorial(from - count);
}

}  // namespace

Sorting::Sorting(const SortingOptions& options) : Task("sorting", TaskKind::classification), options_(options) {
  if (options.length < 2 || options.values < options.length)
    throw ValueError(text("sorting: ", options.length, " different numbers out of ", options.values,
                          " cannot be sorted; take 2 or more numbers, and no fewer values"));
  check_memory("sorting", "a sample",
               {checked_sum("sorting", "the numbers and their answers", {options.length, options.length, 1}),
                checked_sum("sorting", "values + 1", {options.values, 1})});
}

std::unique_ptr<Task> Sorting::make(const TaskOptions& given) {
  SortingOptions options;
  options.length = given.length.value_or(options.length);
  options.values = given.values.value_or(options.values);
  return std::make_unique<Sorting>(options);
}

Baselines Sorting::baselines() const {
  // The k-th of L numbers is v with the probability C(v, k) C(V - 1 - v, L - 1 - k) / C(V, L), k and v from 0.
  const auto [length, values] = options_;
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

void Sorting::fill(Random& random, const Batch& batch) const {
  Integers numbers(static_cast<std::size_t>(options_.length));
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), "sorting", [&](auto zero) {
    using T = decltype(zero);
    T* row = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.size(); ++sample) {
      draw_different(random, options_.values, numbers);
      for (const std::int64_t number : numbers) row[number] = 1, row += input_size();
      row[options_.values] = 1;
      row += (1 + options_.length) * input_size();
      std::ranges::sort(numbers);
      answer = std::ranges::copy(numbers, answer).out;
    }
  });
}

std::vector<Category> Sorting::categories(const Example& example, std::int64_t answer) const {
  const std::int64_t before = answer == 0 ? -1 : example.label(answer - 1);
  return {{"place in the answer", answer + 1}, {"above the number before", example.label(answer) - before}};
}

std::int64_t Sorting::topic(const Example& example, std::int64_t t) const { return hot(example.row(t)); }

std::string Sorting::describe_row(const Example& example, std::int64_t t) const {
  const std::int64_t number = topic(example, t);
  return number < 0 ? "" : number == options_.values ? "end" : describe_label(number);
}

std::string Sorting::describe(const Example& example) const {
  std::string line(name());
  for (std::int64_t t = 0; t < options_.length; ++t) line += " " + describe_row(example, t);
  return line;
}

}  // namespace retrace
