#include <retrace/core/base/subnormals.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/predict.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

void check_numbers(const std::string& file, const FileSamples& samples) {
  const auto values = samples.x.values<double>();
  const auto wrong = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (wrong == values.end()) return;
  const std::int64_t sample = (wrong - values.begin()) / (samples.x.numel() / samples.x.dim(0));
  throw ValueError(
      text("predict: ", file, ": sample ", sample + 1, " has ", *wrong, "; remove the sample or fill in a number"));
}

SampleFormat format_of(const Task& task) {
  if (const SampleFormat* format = task.format()) return *format;
  return {.steps = task.sequence_length(), .features = task.input_size(), .outputs = task.output_size()};
}

std::vector<std::string> output_names(const Task& task, const SampleFormat& format) {
  std::vector<std::string> names = format.targets;
  const std::int64_t outputs = task.output_size();
  if (std::ssize(names) == outputs) return names;
  for (std::int64_t k = 0; k < outputs; ++k)
    names.push_back(task.kind() == TaskKind::classification ? task.describe_label(k) : text("y", k + 1));
  return names;
}

/// Samples [first, first + count), which have no answers yet.
Batch part(const FileSamples& samples, std::int64_t first, std::int64_t count) {
  const auto of = [&](const Tensor& rows) { return slice(rows, {range(first, first + count)}); };
  return {of(samples.x), Tensor(), samples.lengths.defined() ? of(samples.lengths) : Tensor()};
}

/// Adds the answers to some samples, x in the units of the file.
void add_answers(const StoredRun& run, const SampleFormat& format, Batch samples, Answers& answers) {
  samples.x = (format.x ? (*format.x)(samples.x) : samples.x).to(default_dtype());
  const Tensor output = answer(*run.model, *run.task, samples).to(f64);
  if (answers.kind == TaskKind::classification) {
    const Tensor labels = argmax(output);
    const auto numbers = labels.values<std::int64_t>();
    answers.labels.insert(answers.labels.end(), numbers.begin(), numbers.end());
  }
  const Tensor values = answers.kind == TaskKind::classification ? softmax(output)
                        : format.y                               ? format.y->inverse(output)
                                                                 : output;
  const auto numbers = values.values<double>();
  if (!std::ranges::all_of(numbers, [](double value) { return std::isfinite(value); }))
    throw FileError(text("predict: the model of ", run.path,
                         " gives numbers that are not finite; train it again, with a lower learning rate"));
  answers.values.insert(answers.values.end(), numbers.begin(), numbers.end());
}

}  // namespace

Answers predict(const StoredRun& run, const std::string& file, const std::string& separator) {
  const DtypeScope scope(parameters(*run.model).front().tensor.dtype());
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  SampleFormat format = format_of(*run.task);
  if (!separator.empty()) format.separator = separator;
  FileSamples samples = read_samples(file, format);
  check_numbers(file, samples);
  Answers answers{.path = run.path,
                  .task = run.task_name,
                  .kind = run.task->kind(),
                  .samples = std::move(samples.names),
                  .answers_a_sample = run.task->answer_length(),
                  .outputs = output_names(*run.task, format),
                  .labels = {},
                  .values = {}};
  const std::int64_t count = samples.x.dim(0);
  if (answers.samples.empty())
    for (std::int64_t k = 1; k <= count; ++k) answers.samples.push_back(std::to_string(k));
  for (std::int64_t done = 0; done < count; done += evaluation_portion)
    add_answers(run, format, part(samples, done, std::min(evaluation_portion, count - done)), answers);
  return answers;
}

}  // namespace retrace
