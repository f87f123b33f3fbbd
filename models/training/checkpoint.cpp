#include <retrace/core/base/printable.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/progress.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

namespace retrace {
namespace {

std::string to_json(const TrainingState& s) {
  return JsonObject{{"step", s.step},
                    {"lesson", s.curriculum.lesson},
                    {"lesson_accuracy", s.curriculum.accuracy},
                    {"best_step", s.best_step},
                    {"best_lesson", s.best_lesson},
                    {"best_loss", s.best.loss},
                    {"best_metric", s.best.metric},
                    {"without_gain", s.without_gain},
                    {"window_steps", s.window_steps},
                    {"window_loss", s.window_loss},
                    {"seconds", s.seconds},
                    {"reference_loss", s.reference_loss}}
      .text();
}

TrainingState standing_from(const JsonFields& fields) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto count = [&](const char* name) { return fields.integer_in(name, 0, no_limit); };
  return {.step = count("step"),
          .curriculum = {count("lesson"), fields.number("lesson_accuracy")},
          .best_step = count("best_step"),
          .best_lesson = count("best_lesson"),
          // The loss is infinite before the first validation.
          .best = {fields.number_or_null("best_loss", infinity), fields.number_or_null("best_metric", nan)},
          .without_gain = count("without_gain"),
          .window_steps = count("window_steps"),
          .window_loss = fields.number("window_loss"),
          .seconds = fields.number("seconds"),
          .reference_loss = fields.number_or_null("reference_loss", nan)};
}

FileError unreadable(const std::string& path, const ValueError& error) {
  return FileError(
      text("load_checkpoint: ", path, " cannot be read (", error.what(), "); begin again in another folder"));
}

const std::string& metadata_of(const SafetensorsFile& file, const std::string& path, const char* key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw FileError(
        text("load_checkpoint: ", path, " is not a checkpoint of a training; begin again in another folder"));
  return found->second;
}

/// The description of a model without that of its test, and without the paths of its texts: the run names their
/// contents.
JsonFields task_and_model(const std::string& path, const std::string& place, const std::string& description) {
  try {
    JsonFields fields(place, description);
    for (const char* name :
         {"test_samples", "task_options.text", "task_options.validation_text", "task_options.test_text"})
      fields.erase(name);
    return fields;
  } catch (const ValueError& error) {
    throw unreadable(path, error);
  }
}

/// The settings of a training in its description, one by one: "batch 8 x 1".
using Settings = std::vector<std::string>;

Settings settings_in(std::string_view description) {
  Settings result;
  for (std::size_t begin = 0; begin < description.size();) {
    const std::size_t end = std::min(description.find(", ", begin), description.size());
    result.push_back(printable(description.substr(begin, end - begin)));
    begin = end + 2;
  }
  return result;
}

/// Those that the other description does not have, at most six.
std::string only_in(const Settings& settings, const Settings& other) {
  constexpr std::size_t max_listed = 6;
  Settings list;
  for (const std::string& setting : settings)
    if (std::ranges::find(other, setting) == other.end()) list.push_back(setting);
  std::string result;
  for (std::size_t k = 0; k < std::min(list.size(), max_listed); ++k) result += (k == 0 ? "" : ", ") + list[k];
  if (list.size() > max_listed) result += text(", and ", list.size() - max_listed, " more");
  return list.empty() ? "nothing of these" : result;
}

void check_same_run(const SafetensorsFile& file, const std::string& path, const std::string& run,
                    const ModelDescription& model) {
  const auto refuse = [&](const char* another, const Settings& stored, const Settings& asked) {
    return ValueError(text("load_checkpoint: ", path, " is of another ", another, " (stored: ", only_in(stored, asked),
                           "; asked: ", only_in(asked, stored),
                           "); resume with the same options, or begin again in another folder"));
  };
  const std::string& written_by = metadata_of(file, path, "run");
  if (written_by != run) throw refuse("training", settings_in(written_by), settings_in(run));
  const auto described = file.metadata.find(model.entry);
  if (described == file.metadata.end()) return;
  const JsonFields stored =
      task_and_model(path, text("the entry ", model.entry, " of its metadata"), described->second);
  const JsonFields asked = task_and_model(path, "this run", model.json);
  if (!(stored == asked)) throw refuse("task or model", stored.in_words(), asked.in_words());
}

/// A training would go on with converted numbers, and neither dtype would have given its result.
void check_same_dtype(const SafetensorsFile& file, const std::string& path, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& tensor : tensors) {
    const auto found = file.tensors.find(tensor.name);
    if (found != file.tensors.end() && found->second.dtype() != tensor.tensor.dtype())
      throw ValueError(text("load_checkpoint: ", path, " is of a training in ", found->second.dtype(), ", not in ",
                            tensor.tensor.dtype(), "; resume with --dtype ", found->second.dtype(),
                            ", or begin again in another folder"));
  }
}

}  // namespace

void save_checkpoint(const std::string& path, const std::vector<NamedTensor>& tensors, const TrainingState& standing,
                     const std::string& run, const ModelDescription& model) {
  std::map<std::string, Tensor> by_name;
  for (const NamedTensor& tensor : tensors) by_name.emplace(tensor.name, tensor.tensor);
  std::map<std::string, std::string> metadata{{"run", run}, {"standing", to_json(standing)}};
  if (!model.entry.empty()) metadata.emplace(model.entry, model.json);
  write_safetensors(path, by_name, metadata);
}

TrainingState load_checkpoint(const std::string& path, const std::vector<NamedTensor>& tensors, const std::string& run,
                              const ModelDescription& model) {
  const SafetensorsFile file = read_safetensors(path);
  check_same_run(file, path, run, model);
  check_same_dtype(file, path, tensors);
  const TrainingState result = standing_in(file, path);
  std::vector<NamedTensor> values;
  for (const auto& [name, tensor] : file.tensors) values.push_back({name, tensor});
  assign(tensors, values, text("load_checkpoint: ", path).c_str());
  return result;
}

TrainingState standing_in(const SafetensorsFile& file, const std::string& path) {
  try {
    return standing_from(JsonFields("the entry standing of its metadata", metadata_of(file, path, "standing")));
  } catch (const ValueError& error) {
    throw unreadable(path, error);
  }
}

std::optional<std::string> stored_weights_file(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return path;
  for (const char* name : {"weights.safetensors", "checkpoint.safetensors"}) {
    const std::filesystem::path file = std::filesystem::path(path) / name;
    if (std::filesystem::exists(file)) return file.string();
  }
  return std::nullopt;
}

StoredWeights weights_in(const SafetensorsFile& file, const std::string& path) {
  StoredWeights weights;
  std::string prefix;
  if (file.metadata.contains("standing")) {
    const TrainingState standing = standing_in(file, path);
    weights.step = standing.step;
    prefix = standing.best_step > 0 ? "best." : "model.";
  }
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with(prefix)) weights.tensors.push_back({name.substr(prefix.size()), tensor});
  return weights;
}

Random random_for(const std::vector<NamedTensor>& weights) {
  constexpr std::int64_t draws = 2;  // some layers draw a weight as a Linear does, and then again as they do
  std::int64_t elements = 0;
  for (const NamedTensor& weight : weights) elements += weight.tensor.numel();
  return Random::none(draws * elements);
}

std::int64_t step_of_checkpoint(const std::string& path) { return standing_in(read_safetensors(path), path).step; }

}  // namespace retrace
