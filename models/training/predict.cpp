#include <retrace/core/base/subnormals.h>
#include <retrace/models/tasks/text/text_data.h>
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

/// Adds the answers that the outputs of the model are.
void add_answers(const StoredRun& run, const SampleFormat& format, const Tensor& output, Answers& answers) {
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

/// The samples of a file, x in its units.
void answer_samples(const StoredRun& run, const SampleFormat& format, const std::string& file, Answers& answers) {
  FileSamples samples = read_samples(file, format);
  check_numbers(file, samples);
  answers.samples = std::move(samples.names);
  answers.answers_a_sample = run.task->answer_length();
  const std::int64_t count = samples.x.dim(0);
  if (answers.samples.empty())
    for (std::int64_t k = 1; k <= count; ++k) answers.samples.push_back(std::to_string(k));
  for (std::int64_t done = 0; done < count; done += evaluation_portion) {
    Batch some = part(samples, done, std::min(evaluation_portion, count - done));
    some.x = (format.x ? (*format.x)(some.x) : some.x).to(default_dtype());
    add_answers(run, format, answer(*run.model, *run.task, some).to(f64), answers);
  }
}

/// The tokens of a text, each a sample that the token after it answers.
void answer_tokens(const StoredRun& run, const SampleFormat& format, const std::string& file, Answers& answers) {
  std::vector<std::int32_t> ids = read_tokens(file, run.task->text_data()->vocabulary);
  constexpr std::int64_t most = std::int64_t{1} << 28;  // 2 GiB
  if (std::ssize(ids) > most / format.outputs)
    throw ValueError(text("predict: ", file, " has ", ids.size(), " tokens with ", format.outputs,
                          " probabilities each; give at most ", most / format.outputs, " at once"));
  for (const std::int32_t id : ids) answers.samples.push_back(run.task->describe_label(id));
  ids.push_back(0);  // stands for the one after the last, which nobody reads
  evaluate(*run.model, *run.task, ids, 1,
           [&](const Batch&, const Tensor& logits) { add_answers(run, format, logits.to(f64), answers); });
}

}  // namespace

Answers predict(const StoredRun& run, const std::string& file, const std::string& separator) {
  const DtypeScope scope(parameters(*run.model).front().tensor.dtype());
  const NoTape unrecorded;
  const SubnormalsScope flushed(Subnormals::flushed);
  SampleFormat format = format_of(*run.task);
  if (!separator.empty()) format.separator = separator;
  Answers answers{.path = run.path,
                  .task = run.task_name,
                  .kind = run.task->kind(),
                  .samples = {},
                  .outputs = output_names(*run.task, format),
                  .labels = {},
                  .values = {}};
  (format.tokens ? answer_tokens : answer_samples)(run, format, file, answers);
  return answers;
}

}  // namespace retrace
