// A task whose samples come from a user's data: how reports show them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <retrace/models/tasks/task.h>

namespace retrace {

/// Without targets, the answers are classes.
inline TaskKind kind_of(const SampleFormat& format) {
  return format.targets.empty() ? TaskKind::classification : TaskKind::regression;
}

/// Its sizes and words are those of a format. Numbers are shown in the units of the data, with as many digits as it
/// takes to tell samples apart.
class SampleTask : public Task {
 public:
  std::int64_t input_size() const override { return format_.features; }
  std::int64_t sequence_length() const override { return format_.steps; }
  std::int64_t output_size() const override { return format_.outputs; }
  std::int64_t answer_length() const override { return format_.answers_each_row ? format_.steps : 1; }
  bool has_lengths() const override { return format_.different_lengths; }
  std::string describe_label(std::int64_t label) const override { return format_.describe_label(label); }
  std::string describe_numbers(std::span<const double> answer) const override;
  /// "length 5.1, width 3.5", where the columns have names; of many numbers the first.
  std::string describe_row(const Example& example, std::int64_t t) const override;
  /// A single row has no number before it.
  std::string describe(const Example& example) const override;

 protected:
  SampleTask(std::string_view name, TaskKind kind, SampleFormat format)
      : Task(name, kind), format_(std::move(format)) {}

  SampleFormat format_;
  std::vector<double> x_spread_ = {};  // of the numbers in their units; empty: as format_ scales them
  std::vector<double> y_spread_ = {};  // the same of the answers
};

}  // namespace retrace
