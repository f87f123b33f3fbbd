// One sample of a batch, to be read by people.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

struct Batch;

/// The rows of a sequence and its answers.
class Example {
 public:
  /// A copy of a sample of the batch; throws IndexError for a sample that the batch does not have.
  Example(const Batch& batch, std::int64_t sample);

  std::int64_t length() const { return length_; }  // the sample's own number of rows
  std::span<const double> row(std::int64_t t) const;
  /// The last rows that each have an answer: A, or length() where every row has one.
  std::int64_t answers() const { return answers_; }
  /// The label of a classification; no_answer where nothing is asked.
  std::int64_t label(std::int64_t answer = 0) const { return labels_[static_cast<std::size_t>(answer)]; }
  /// The numbers of a regression.
  std::span<const double> numbers(std::int64_t answer = 0) const;

 private:
  std::int64_t length_, width_, answers_, numbers_per_answer_ = 0;
  std::vector<double> rows_, numbers_;
  std::vector<std::int64_t> labels_;
};

/// A criterion by which samples are sorted, and the value for one sample: n = 3, reachable = yes.
struct Category {
  std::string_view name;
  std::int64_t value;
  std::string_view words = {};  // instead of the value, for people
};

/// The position of the 1 in a one-hot row, or a part of one: the first element that is not zero; -1 if all are zero.
std::int64_t hot(std::span<const double> row);
/// The columns [first, first + count) of a row.
inline std::span<const double> columns(std::span<const double> row, std::int64_t first, std::int64_t count) {
  return row.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}
/// "0.25, -1.5": with 3 significant digits.
std::string written(std::span<const double> numbers);

}  // namespace retrace
