#include <retrace/core/safetensors.h>
#include <retrace/models/training/checkpoint.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace retrace {
namespace {

using nlohmann::json;

std::string to_json(const Standing& s) {
  return json{{"step", s.step},
              {"lesson", s.curriculum.lesson},
              {"lesson_accuracy", s.curriculum.accuracy},
              {"best_step", s.best_step},
              {"best_lesson", s.best_lesson},
              {"best_loss", s.best.loss},
              {"best_metric", s.best.metric},
              {"without_gain", s.without_gain},
              {"window_steps", s.window_steps},
              {"window_loss", s.window_loss},
              {"seconds", s.seconds}}
      .dump();
}

Standing from_json(const std::string& path, const std::string& text_of_standing) {
  try {
    const json object = json::parse(text_of_standing);
    const json& best_loss = object.at("best_loss");  // null for the infinity before the first validation
    return {.step = object.at("step"),
            .curriculum = {object.at("lesson"), object.at("lesson_accuracy")},
            .best_step = object.at("best_step"),
            .best_lesson = object.at("best_lesson"),
            .best = {best_loss.is_null() ? std::numeric_limits<double>::infinity() : best_loss.get<double>(),
                     object.at("best_metric")},
            .without_gain = object.at("without_gain"),
            .window_steps = object.at("window_steps"),
            .window_loss = object.at("window_loss"),
            .seconds = object.at("seconds")};
  } catch (const json::exception& error) {
    throw FileError(text("load_checkpoint: ", path, " has a standing that cannot be read (", error.what(),
                         "); begin again in another folder"));
  }
}

const std::string& metadata_of(const SafetensorsFile& file, const std::string& path, const char* key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw FileError(
        text("load_checkpoint: ", path, " is not a checkpoint of a training; begin again in another folder"));
  return found->second;
}

/// What is trained, without how it is tested.
json task_and_model(const std::string& description) {
  json object = json::parse(description, nullptr, false);
  if (object.is_object()) object.erase("test_samples");
  return object;
}

}  // namespace

void save_checkpoint(const std::string& path, const std::vector<NamedTensor>& tensors, const Standing& standing,
                     const std::string& run, const std::string& model) {
  std::map<std::string, Tensor> by_name;
  for (const NamedTensor& tensor : tensors) by_name.emplace(tensor.name, tensor.tensor);
  std::map<std::string, std::string> metadata{{"run", run}, {"standing", to_json(standing)}};
  if (!model.empty()) metadata.emplace("trained", model);
  write_safetensors(path, by_name, metadata);
}

Standing load_checkpoint(const std::string& path, const std::vector<NamedTensor>& tensors, const std::string& run,
                         const std::string& model) {
  const SafetensorsFile file = read_safetensors(path);
  const auto refuse = [&](const char* another, const std::string& stored, const std::string& wanted) {
    return ValueError(text("load_checkpoint: ", path, " is of another ", another, " (", stored, "), not of this one (",
                           wanted, "); resume with the same options, or begin again in another folder"));
  };
  const std::string& written_by = metadata_of(file, path, "run");
  if (written_by != run) throw refuse("training", written_by, run);
  const auto trained = file.metadata.find("trained");
  if (!model.empty() && trained != file.metadata.end() && task_and_model(trained->second) != task_and_model(model))
    throw refuse("task or model", trained->second, model);
  const Standing result = from_json(path, metadata_of(file, path, "standing"));
  std::vector<NamedTensor> values;
  for (const auto& [name, tensor] : file.tensors) values.push_back({name, tensor});
  assign(tensors, values, "load_checkpoint");
  return result;
}

Standing standing_of_checkpoint(const std::string& path) {
  return from_json(path, metadata_of(read_safetensors(path), path, "standing"));
}

std::int64_t step_of_checkpoint(const std::string& path) { return standing_of_checkpoint(path).step; }

}  // namespace retrace
