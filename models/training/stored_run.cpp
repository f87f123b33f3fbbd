#include <retrace/core/safetensors.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/training/check_finite.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/stored_run.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

namespace retrace {
namespace {

constexpr const char* description_key = "trained";
constexpr std::int64_t largest_size = 1 << 16;

// The members of both structs are counted here by the compiler: one that is added has to be stored, too.
JsonObject options_to_json(const TaskOptions& options) {
  const auto& [length, vectors, dims, program, nesting, held_only] = options;
  return {{"length", length},   {"vectors", vectors}, {"dims", dims},
          {"program", program}, {"nesting", nesting}, {"held_only", held_only}};
}

JsonObject sizes_to_json(const ModelSizes& sizes) {
  const auto& [input, hidden, output, slot_size, slots, heads, time, memory, parts] = sizes;
  const auto& [gate, residual, layer_norm, attention_mlp] = parts;
  return {{"hidden", hidden},     {"slot_size", slot_size},   {"slots", slots},
          {"heads", heads},       {"memory", memory},         {"gate", gate_names()[static_cast<std::size_t>(gate)]},
          {"residual", residual}, {"layer_norm", layer_norm}, {"attention_mlp", attention_mlp}};
}

FileError not_a_run(const std::string& path, const std::string& why) {
  return FileError(text("retrace: ", path, " is not of a model that was trained on a task (", why,
                        "); make one by: retrace train TASK --out DIR"));
}

std::string file_of(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return path;
  for (const char* name : {"weights.safetensors", "checkpoint.safetensors"}) {
    const std::filesystem::path file = std::filesystem::path(path) / name;
    if (std::filesystem::exists(file)) return file.string();
  }
  throw not_a_run(path, "it has neither weights.safetensors nor checkpoint.safetensors");
}

const std::string& description_in(const SafetensorsFile& file, const std::string& path) {
  const auto found = file.metadata.find(description_key);
  if (found != file.metadata.end()) return found->second;
  if (file.metadata.contains("text_model"))
    throw FileError(text("retrace: ", path, " is of a model of text, which has no categories and no slots to tell of; ",
                         "see its result.json, or let it write: retrace generate DIR"));
  throw not_a_run(path, "it does not say which task and model");
}

MemoryParts parts_in(const JsonFields& fields) {
  const std::string& name = fields.string("sizes.gate");
  const auto found = std::ranges::find(gate_names(), name);
  if (found == gate_names().end()) throw ValueError(unknown_name("sizes.gate", "gate", name, gate_names()));
  return {.gate = static_cast<MemoryGate>(found - gate_names().begin()),
          .residual = fields.truth("sizes.residual"),
          .layer_norm = fields.truth("sizes.layer_norm"),
          .attention_mlp = fields.truth("sizes.attention_mlp")};
}

void read_description(const JsonFields& fields, StoredRun& run) {
  const auto size = [&](const char* name) { return fields.integer_in(name, 1, largest_size); };
  run.task_name = fields.string("task");
  run.model_name = fields.string("model");
  run.task_options = {.length = fields.integer("task_options.length"),
                      .vectors = fields.integer("task_options.vectors"),
                      .dims = fields.integer("task_options.dims"),
                      .program = fields.string("task_options.program"),
                      .nesting = fields.integer("task_options.nesting"),
                      .held_only = fields.truth("task_options.held_only")};
  run.sizes = {.hidden = size("sizes.hidden"),
               .slot_size = size("sizes.slot_size"),
               .slots = size("sizes.slots"),
               .heads = static_cast<int>(size("sizes.heads")),
               .parts = parts_in(fields)};
  run.memory = fields.string("sizes.memory");
  run.seed = fields.natural("seed");
  run.test_samples = fields.integer_in("test_samples", 1, std::numeric_limits<std::int64_t>::max());
}

/// The tensors of the model: all of a file of weights; of a checkpoint the best ones, or those at the start.
std::vector<NamedTensor> weights_in(const SafetensorsFile& file, StoredRun& run) {
  std::string prefix;
  if (file.metadata.contains("standing")) {
    const Standing standing = standing_in(file, run.path);
    run.step = standing.step;
    prefix = standing.best_step > 0 ? "best." : "model.";
  }
  std::vector<NamedTensor> weights;
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with(prefix)) weights.push_back({name.substr(prefix.size()), tensor});
  if (weights.empty()) throw not_a_run(run.path, "it has no weights");
  return weights;
}

void make(StoredRun& run, const std::vector<NamedTensor>& weights) {
  const DtypeScope scope(weights.front().tensor.dtype());
  run.task = make_task(run.task_name, run.task_options);
  run.sizes.input = run.task->input_size();
  run.sizes.output = run.task->output_size();
  run.sizes.time = run.task->sequence_length();
  ModelSizes sizes = run.sizes;
  sizes.memory = run.memory;
  Random unused;
  run.model = make_model(run.model_name, sizes, unused);
}

}  // namespace

std::string describe_run(const Run& run) {
  return JsonObject{{"task", run.options.task},     {"task_options", options_to_json(run.options.task_options)},
                    {"model", run.options.model},   {"sizes", sizes_to_json(sizes_of(run.options, *run.task))},
                    {"seed", run.options.fit.seed}, {"test_samples", run.options.fit.test_samples}}
      .text();
}

void save_run(const std::string& path, const Run& run) {
  std::map<std::string, Tensor> weights;
  for (const NamedTensor& weight : parameters(*run.model)) weights.emplace(weight.name, weight.tensor);
  write_safetensors(path, weights, {{description_key, describe_run(run)}});
}

StoredRun load_run(const std::string& path) {
  StoredRun run;
  run.path = file_of(path);
  const SafetensorsFile file = read_safetensors(run.path);
  const std::string& description = description_in(file, run.path);
  try {
    read_description(JsonFields("the entry trained of its metadata", description), run);
  } catch (const ValueError& error) {
    throw not_a_run(run.path, error.what());
  }
  const std::vector<NamedTensor> weights = weights_in(file, run);
  check_finite(run.path, weights);
  try {
    make(run, weights);
  } catch (const ValueError& error) {
    throw ValueError(text("retrace: ", run.path, ": ", error.what()));
  }
  try {
    assign(*run.model, weights);
  } catch (const ValueError& error) {
    throw not_a_run(run.path, error.what());
  }
  return run;
}

}  // namespace retrace
