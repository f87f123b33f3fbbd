#include <retrace/core/base/printable.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/models/formats/counts.h>
#include <retrace/models/formats/error_words.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/tasks/data_file.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/tasks/text/text_task.h>
#include <retrace/models/training/check_finite.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/stored_run.h>

#include <algorithm>
#include <limits>
#include <map>

namespace retrace {
namespace {

constexpr const char* description_key = "trained";

FileError not_a_run(const std::string& path, const std::string& why) {
  return FileError(text("retrace: ", path, " is not of a model that was trained on a task (", why,
                        "); make one by: retrace train TASK --out DIR"));
}

std::string file_of(const std::string& path) {
  const std::optional<std::string> file = stored_weights_file(path);
  if (!file) throw not_a_run(path, "it has neither weights.safetensors nor checkpoint.safetensors");
  return *file;
}

const std::string& description_in(const SafetensorsFile& file, const std::string& path) {
  const auto found = file.metadata.find(description_key);
  if (found != file.metadata.end()) return found->second;
  throw not_a_run(path, "it does not say which task and model; in a program, load_pytorch reads weights of PyTorch");
}

void read_description(const JsonFields& fields, StoredRun& run) {
  run.task_name = fields.string("task");
  run.spec = model_spec_in(fields);
  run.task_options = task_options_in(fields);
  run.seed = fields.natural("seed");
  run.test_samples = fields.integer_in("test_samples", 1, largest_count);
}

/// Throws ValueError for a name that was registered by another program.
void check_known(std::string_view kind, std::string_view name, std::span<const std::string_view> known) {
  if (std::ranges::find(known, name) == known.end())
    throw ValueError(text("it is of the ", kind, " '", printable(name),
                          "', which this program does not have; use the program that ",
                          "registered it, and trained this model"));
}

/// The task with the samples of its training.
std::unique_ptr<Task> task_of_training(const StoredRun& run, const std::optional<SampleFormat>& format) {
  if (!format || !format->tokens) {
    if (!format) check_known("task", run.task_name, all_task_names());
    return make_task(run.task_name, run.task_options);
  }
  try {
    std::unique_ptr<Task> task = TextTask::make_again(run.task_options, *format);
    if (task->format()->test_fingerprint == format->test_fingerprint) return task;
  } catch (const FileError&) {
    make_task(run.task_name, run.task_options);  // throws for a file that cannot be read in any vocabulary
  }
  throw FileError(text(run.task_options.test_text.value_or(*run.task_options.text),
                       " has changed since the training; restore it, or train on it again (retrace eval --test-text "
                       "FILE tests on another text)"));
}

void make(StoredRun& run, TaskSamples samples, const std::optional<SampleFormat>& format,
          const std::vector<NamedTensor>& weights) {
  const DtypeScope scope(weights.front().tensor.dtype());
  check_known("model", run.spec.name, model_names());
  run.task = format && samples == TaskSamples::none ? task_without_samples(run.task_name, *format)
                                                    : task_of_training(run, format);
  Random undrawn = random_for(weights);
  run.model = make_model_for(*run.task, run.spec, undrawn);
}

}  // namespace

ModelDescription describe_run(const RunOptions& options, const Task& task) {
  JsonObject description{{"task", options.task},        {"task_options", to_json(options.task_options)},
                         {"model", options.model.name}, {"sizes", sizes_to_json(filled_spec(options, task))},
                         {"seed", options.fit.seed},    {"test_samples", options.fit.test_samples}};
  if (const SampleFormat* format = task.format()) description.add("format", to_json(*format));
  return {description_key, description.text()};
}

void save_run(const std::string& path, const RunOptions& options, const Task& task, const SequenceModel& model) {
  std::map<std::string, Tensor> weights;
  for (const NamedTensor& weight : parameters(model)) weights.emplace(weight.name, weight.tensor);
  const auto [entry, json] = describe_run(options, task);
  write_safetensors(path, weights, {{entry, json}});
}

StoredRun load_run(const std::string& path, TaskSamples samples) {
  StoredRun run;
  run.path = file_of(path);
  const SafetensorsFile file = read_safetensors(run.path);
  const std::string& description = description_in(file, run.path);
  std::optional<SampleFormat> format;
  try {
    const JsonFields fields("the entry trained of its metadata", description);
    read_description(fields, run);
    format = sample_format_in(fields);
  } catch (const ValueError& error) {
    throw not_a_run(run.path, error.what());
  }
  const auto [weights, step] = weights_in(file, run.path);
  run.step = step;
  if (weights.empty()) throw not_a_run(run.path, "it has no weights");
  check_finite(run.path, weights);
  try {
    make(run, samples, format, weights);
  } catch (const ValueError& error) {
    throw ValueError(text("retrace: ", run.path, ": ", without_function(error.what())));
  } catch (const FileError& error) {
    throw FileError(text("retrace: the data of ", run.path, ": ", without_function(error.what())));
  } catch (const Error& error) {
    throw not_a_run(run.path, error.what());
  }
  try {
    assign(*run.model, weights);
  } catch (const ValueError& error) {
    throw not_a_run(run.path, error.what());
  }
  return run;
}

void check_reads(const StoredRun& run, const Task& task) {
  const DtypeScope scope(parameters(*run.model).front().tensor.dtype());
  const NoTape unrecorded;
  try {
    answer(*run.model, task, task.unfilled(1).x);
  } catch (const ShapeError& error) {
    throw ValueError(text("eval: ", error.what(), "; the model of ", run.path, " cannot read ", task.sequence_length(),
                          " rows: train it with --positions rotary, alibi, sinusoidal or none, or on as many rows"));
  }
}

void test_on_file(StoredRun& run, const std::string& path, const std::string& separator) {
  const SampleFormat* known = run.task->format();
  if (known == nullptr)
    throw ValueError(text("eval: the model of ", run.path, " was trained on the task '", run.task_name,
                          "', not on data of your own, whose answers a file could have; leave --input out"));
  SampleFormat format = *known;
  if (!separator.empty()) format.separator = separator;
  run.task = task_on_file(run.task_name, format, run.task_options, path);
  run.input = path;
}

std::unique_ptr<Task> make_task_again(const StoredRun& run, const TaskOptions& options) {
  const SampleFormat* format = run.task->format();
  if (format == nullptr || !format->tokens) return make_task(run.task_name, options);
  check_task_options(run.task_name, options);
  return TextTask::make_again(options, *format);
}

void change_task(StoredRun& run, const TaskOptions& given) {
  const TaskOptions options = given.or_else(run.task_options);
  std::unique_ptr<Task> task = make_task_again(run, options);
  if (task->input_size() != run.task->input_size() || task->output_size() != run.task->output_size())
    throw ValueError(text("eval: with ", in_words(given_options(task_option_rows(), given)), " the task '",
                          run.task_name, "' has ", task->input_size(), " features and ", task->output_size(),
                          " outputs, but the model of ", run.path, " was trained on ", run.task->input_size(), " and ",
                          run.task->output_size(), "; change what keeps both, or train a model on this task"));
  check_reads(run, *task);
  run.other_sizes = options != run.task_options;
  run.task_options = options;
  run.task = std::move(task);
}

}  // namespace retrace
