#include <retrace/models/tasks/task.h>

#include <retrace/ops/ops.h>

#include <cmath>
#include <numbers>

namespace retrace {

double metric_of(Metric metric, double mean) {
  if (metric == Metric::bits_per_character) return mean / std::numbers::ln2;
  return metric == Metric::perplexity ? std::exp(mean) : mean;
}

bool answers_each_row(const Tensor& y) { return y.rank() == (y.dtype() == i64 ? 2 : 3); }

Batch Batch::part(std::int64_t first, std::int64_t count) const {
  const auto of = [&](const Tensor& all_samples) { return slice(all_samples, {range(first, first + count)}); };
  return {of(x), of(y), lengths.defined() ? of(lengths) : Tensor()};
}

Batch Batch::sample(std::int64_t k) const {
  const Batch one = part(k, 1);
  if (!lengths.defined()) return {one.x.clone(), one.y.clone()};
  const std::int64_t length = one.lengths.values<std::int64_t>()[0];
  const auto own_rows = [&](const Tensor& rows) { return slice(rows, {all, range(0, length)}).clone(); };
  return {own_rows(one.x), answers_each_row(y) ? own_rows(one.y) : one.y.clone()};
}

Batch Task::unfilled(std::int64_t count) const {
  const Shape answers = answer_length() == 1 ? Shape{count} : Shape{count, answer_length()};
  Batch batch{
      text_data() != nullptr ? zeros({count, sequence_length()}, i64) : zeros({count, sequence_length(), input_size()}),
      kind_ == TaskKind::classification ? empty(answers, i64) : empty(answers.joined({output_size()}))};
  if (has_lengths()) batch.lengths = empty({count}, i64);
  return batch;
}

Batch Task::sample(Random& random, std::int64_t count) const {
  if (count < 1) throw ValueError(text(name_, ": a batch of ", count, " samples was asked for; ask for 1 or more"));
  const Batch batch = unfilled(count);
  fill(random, batch);
  return batch;
}

std::string Task::describe(const Example& example) const {
  std::string lines;
  for (std::int64_t t = 0; t < example.length(); ++t)
    if (const std::string row = describe_row(example, t); !row.empty())
      lines += text(lines.empty() ? "" : "\n", t + 1, ": ", row);
  return lines;
}

}  // namespace retrace
