#include <retrace/models/formats/digits.h>
#include <retrace/models/tasks/example.h>
#include <retrace/models/tasks/task.h>
#include <retrace/ops/ops.h>

#include <algorithm>

namespace retrace {
namespace {

std::vector<double> values_of(const Tensor& x) {
  const Tensor wide = x.to(f64);
  const auto values = wide.values<double>();
  return {values.begin(), values.end()};
}

}  // namespace

Example::Example(const Batch& batch, std::int64_t sample)
    : length_(batch.x.dim(1)),
      width_(batch.x.rank() == 2 ? 1 : batch.x.dim(2)),  // an id, or numbers
      answers_(1),
      rows_(values_of(batch.x[sample])) {
  const Tensor y = batch.y[sample];
  const bool has_labels = y.dtype() == i64;
  if (batch.lengths.defined()) length_ = batch.lengths.values<std::int64_t>()[static_cast<std::size_t>(sample)];
  if (y.rank() == (has_labels ? 1 : 2)) answers_ = batch.lengths.defined() ? length_ : y.dim(0);
  if (has_labels) {
    const auto labels = y.values<std::int64_t>();
    labels_.assign(labels.begin(), labels.end());
  } else {
    numbers_ = values_of(y);
    numbers_per_answer_ = y.dim(-1);
  }
}

std::span<const double> Example::row(std::int64_t t) const { return columns(rows_, t * width_, width_); }

std::span<const double> Example::numbers(std::int64_t answer) const {
  return columns(numbers_, answer * numbers_per_answer_, numbers_per_answer_);
}

std::int64_t hot(std::span<const double> row) {
  const auto found = std::ranges::find_if(row, [](double x) { return x != 0; });
  return found == row.end() ? -1 : found - row.begin();
}

std::string written(std::span<const double> numbers) {
  std::string result;
  for (const double x : numbers) result += text(result.empty() ? "" : ", ", in_digits(x));
  return result;
}

}  // namespace retrace
