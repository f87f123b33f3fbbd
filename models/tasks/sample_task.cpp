#include <retrace/core/base/printable.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/tasks/sample_task.h>

#include <algorithm>

namespace retrace {
namespace {

/// Numbers that the model sees as those of the data, in words.
std::vector<std::string> in_words(std::span<const double> numbers, const std::optional<Normaliser>& scales,
                                  const std::vector<double>& spread) {
  const std::vector<double>& spreads = scales ? scales->scale : spread;
  std::vector<std::string> words;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const double value = scales ? numbers[k] * scales->scale[k] + scales->shift[k] : numbers[k];
    words.push_back(spreads.empty() ? in_digits(value, "%.6g") : in_digits_of(value, spreads[k]));
  }
  return words;
}

}  // namespace

std::string SampleTask::describe_numbers(std::span<const double> answer) const {
  std::string result;
  for (const std::string& number : in_words(answer, format_.y, y_spread_))
    result += (result.empty() ? "" : ", ") + number;
  return result;
}

std::string SampleTask::describe_row(const Example& example, std::int64_t t) const {
  constexpr std::size_t most = 16;
  const std::vector<std::string> numbers = in_words(example.row(t), format_.x, x_spread_);
  const std::size_t shown = std::min(numbers.size(), most), columns = format_.columns.size();
  // A line of a .csv file is a step of a sequence, or a whole one.
  const std::size_t first = columns == numbers.size() ? 0 : static_cast<std::size_t>(t) * numbers.size();
  std::string row;
  for (std::size_t k = 0; k < shown; ++k)
    row += text(k == 0 ? "" : ", ", first + k < columns ? printable(format_.columns[first + k]) + " " : "", numbers[k]);
  return shown < numbers.size() ? text(row, ", ... (", numbers.size(), " numbers)") : row;
}

std::string SampleTask::describe(const Example& example) const {
  return sequence_length() == 1 ? describe_row(example, 0) : Task::describe(example);
}

}  // namespace retrace
