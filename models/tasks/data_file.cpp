#include <retrace/core/base/error.h>
#include <retrace/core/tape/tape.h>
#include <retrace/models/data/csv.h>
#include <retrace/models/data/file_text.h>
#include <retrace/models/data/inflate.h>
#include <retrace/models/formats/error_words.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/tasks/answered_file.h>
#include <retrace/models/tasks/data_file.h>
#include <retrace/models/tasks/text/text_task.h>

#include <algorithm>

namespace retrace {
namespace {

/// Throws ValueError for what is no file on a disk: it is read more than once, and by eval again; and for a name that
/// cannot be stored for that.
SampleSource source_to_learn_from(const std::string& path) {
  check_storable(path, "data");
  SampleSource source = sample_source("data", path);
  if (source.content)
    throw ValueError(text("data: ", path, " can be read only once, and eval reads the data again; save it to a file"));
  return source;
}

/// The samples as a task. Errors, of too few of them for example, name the file.
std::unique_ptr<Task> dataset_of(const std::string& path, const Tensor& x, const Tensor& y,
                                 const DatasetOptions& options) {
  try {
    return std::make_unique<Dataset>("data", x, y, options);
  } catch (const ValueError& error) {
    throw ValueError(text("data: ", path, ": ", without_function(without_function(error.what()))));
  }
}

std::unique_ptr<Task> from_csv(SampleSource source, const TaskOptions& options) {
  const std::string who = "data: " + source.path;
  const char separator = separator_of(who, source.path, options.separator.value_or(""));
  source.content = read_plain_or_gzip(source.path, "read_csv: " + source.path);  // once, for the header and the lines
  const CsvColumns columns = columns_by_role(who, parse_csv_header(*source.content, source.path, separator), options);
  AnsweredSamples data =
      read_answered_csv(who, source, columns, separator, options.features.value_or(std::ssize(columns.numbers)));
  SampleFormat format{.columns = columns.numbers,
                      .sequence = options.sequence.value_or(""),
                      .separator = options.separator.value_or(""),
                      .words = std::move(data.words),
                      .targets = columns.target};
  return dataset_of(source.path, data.samples.x, data.y,
                    {.lengths = data.samples.lengths,
                     .stratified = true,
                     .normalise = Normalisation::standard,
                     .format = std::move(format),
                     .places = std::move(data.samples.places),
                     .remarks = std::move(data.remarks)});
}

std::unique_ptr<Task> from_arrays(const SampleSource& source, const TaskOptions& options) {
  const AnsweredSamples data = read_answered_arrays("data: " + source.path, source, options);
  return dataset_of(source.path, data.samples.x, data.y,
                    {.stratified = data.y.dtype() == i64 && data.y.rank() == 1,
                     .normalise = Normalisation::standard,
                     .format = SampleFormat{}});
}

/// The labels of another file's words as those of a format. Throws ValueError for a word that it does not have.
Tensor relabelled(const std::string& who, const AnsweredSamples& data, const SampleFormat& format) {
  std::vector<double> labels;
  for (const std::string& word : data.words) {
    const auto found = std::ranges::find(format.words, word);
    if (found == format.words.end()) throw ValueError(unknown_name(who, "class of the training", word, format.words));
    labels.push_back(static_cast<double>(found - format.words.begin()));
  }
  const Tensor result = data.y.clone();
  for (std::int64_t& label : result.mutable_values<std::int64_t>())
    label = static_cast<std::int64_t>(labels[static_cast<std::size_t>(label)]);
  return result;
}

/// See task_without_samples.
class FormatTask final : public SampleTask {
 public:
  FormatTask(std::string_view name, const SampleFormat& format) : SampleTask(name, kind_of(format), format) {}
  Baselines baselines() const override { return {}; }
  const SampleFormat* format() const override { return &format_; }

 private:
  void fill(Random&, const Batch&) const override {
    throw ValueError(text(name(), ": the file of the samples was not read; there are none"));
  }
};

}  // namespace

std::unique_ptr<Task> DataFile::make(const TaskOptions& options) {
  if (!options.data)
    throw ValueError("data: there is no file to learn from; give --data FILE, a .csv, .tsv, .npz or .npy file");
  const NoTape unrecorded;
  SampleSource source = source_to_learn_from(*options.data);
  return source.kind == SampleFileKind::csv ? from_csv(std::move(source), options) : from_arrays(source, options);
}

std::unique_ptr<Task> task_without_samples(std::string_view name, const SampleFormat& format) {
  if (format.tokens)
    return std::make_unique<TextTask>(TextData{Vocabulary(*format.tokens, format.words), {}}, format.steps);
  return std::make_unique<FormatTask>(name, format);
}

std::unique_ptr<Task> task_on_file(std::string_view name, const SampleFormat& format, const TaskOptions& options,
                                   const std::string& path) {
  const NoTape unrecorded;
  if (format.tokens) {
    const Vocabulary vocabulary(*format.tokens, format.words);
    return std::make_unique<TextTask>(
        TextData{.vocabulary = vocabulary, .ids = {}, .own_test = read_tokens(path, vocabulary)}, format.steps);
  }
  const std::string who = "data: " + path;
  const SampleSource source = sample_source("data", path);
  if (source.kind != SampleFileKind::csv) {
    if (source.kind == SampleFileKind::npy)
      throw ValueError(text(who, ": a .npy file has only the samples x; give a .npz file with the arrays x and y"));
    const AnsweredSamples data = read_answered_arrays(who, source, {.features = format.features});
    return std::make_unique<Dataset>(name, format, data.samples, data.y);
  }
  if (format.columns.empty())
    throw ValueError(text(who, ": the model was not trained on a .csv file; give a .npz file with the arrays x and y"));
  CsvColumns columns{.numbers = format.columns, .target = format.targets};
  if (options.label) columns.label = {*options.label};
  if (!format.sequence.empty()) columns.sequence = {format.sequence};
  AnsweredSamples data =
      read_answered_csv(who, source, columns, separator_of(who, path, format.separator), format.features);
  if (!columns.label.empty()) data.y = relabelled(who, data, format);
  return std::make_unique<Dataset>(name, format, data.samples, data.y);
}

}  // namespace retrace
