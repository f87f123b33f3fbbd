#include <retrace/models/tasks/symbols/symbol_task.h>

#include <algorithm>

namespace retrace {
namespace {

template <class T> void write(const SymbolSample& sample, const SymbolSizes& sizes, T* row) {
  const std::int64_t columns = sizes.keys + sizes.values;
  for (std::size_t t = 0; t < sample.keys.size(); ++t, row += columns) {
    const std::int64_t key = sample.keys[t], value = sample.values[t];
    if (columns == 1) {
      *row = key == 1 ? T(1) : T(-1);
      continue;
    }
    if (key >= 0) row[key] = 1;
    if (value >= 0) row[sizes.keys + value] = 1;
  }
}

}  // namespace

void SymbolSample::clear(std::int64_t rows, std::int64_t count_of_answers) {
  keys.assign(static_cast<std::size_t>(rows), -1);
  values.assign(static_cast<std::size_t>(rows), -1);
  answers.assign(static_cast<std::size_t>(count_of_answers), no_answer);
}

SymbolTask::SymbolTask(std::string_view name, const SymbolSizes& sizes)
    : Task(name, TaskKind::classification), sizes_(sizes) {
  const char* task = this->name().data();
  check_memory(task, "a sample", {sizes.rows, checked_sum(task, "keys + values", {sizes.keys, sizes.values})});
}

void SymbolTask::fill(Random& random, const Batch& batch) const {
  const auto labels = batch.y.mutable_values<std::int64_t>();
  std::ranges::fill(labels, no_answer);
  SymbolSample sample;
  dispatch_real(batch.x.dtype(), name().data(), [&](auto zero) {
    using T = decltype(zero);
    T* x = batch.x.mutable_values<T>().data();
    for (std::int64_t number = 0; number < batch.size(); ++number, x += sizes_.rows * input_size()) {
      draw(random, number, sample);
      write(sample, sizes_, x);
      const std::int64_t rows = std::ssize(sample.keys), before = rows - std::ssize(sample.answers);
      const std::int64_t first = answer_length() == sequence_length() ? before : 0;
      std::ranges::copy(sample.answers, labels.begin() + number * answer_length() + first);
      if (has_lengths()) batch.lengths.mutable_values<std::int64_t>()[static_cast<std::size_t>(number)] = rows;
    }
  });
}

std::int64_t SymbolTask::topic(const Example& example, std::int64_t t) const {
  if (input_size() == 1) return example.row(t).front() > 0 ? 1 : 0;
  return hot(columns(example.row(t), 0, sizes_.keys));
}

std::int64_t SymbolTask::value(const Example& example, std::int64_t t) const {
  return hot(columns(example.row(t), sizes_.keys, sizes_.values));
}

std::string SymbolTask::on_a_line(const Example& example, std::int64_t rows, bool has_blanks) const {
  std::string line(name());
  for (std::int64_t t = 0; t < rows; ++t) line += (t == 0 || has_blanks ? " " : "") + describe_row(example, t);
  return line;
}

std::string_view word(std::string_view words, std::int64_t number) {
  for (; number > 0; --number) words.remove_prefix(words.find(' ') + 1);
  return words.substr(0, words.find(' '));
}

}  // namespace retrace
