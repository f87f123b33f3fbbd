#include <retrace/core/files/safetensors.h>
#include <retrace/models/formats/counts.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/training/check_finite.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/text/text_model.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

namespace retrace {
namespace {

constexpr const char* metadata_entry = "text_model";

/// Refuses options that the model does not have, and layers that see later rows, which the model has to predict.
void check_form(const TextModelOptions& options) {
  check_model_options("TextModel", options.spec());
  if (options.form.bidirectional)
    throw ValueError(
        "TextModel: a bidirectional model would see the tokens that it has to predict; leave bidirectional out");
  if (!options.form.causal.value_or(true))
    throw ValueError(
        "TextModel: attention that is not causal would see the tokens that it has to predict; leave --no-causal out");
}

ModelForm causal_form(const TextModelOptions& options) {
  ModelForm form = options.form;
  if (has_option(options.spec(), "causal")) form.causal = true;
  return form;
}

LanguageModelOptions network_options(const TextModelOptions& options, const Vocabulary& vocabulary) {
  check_form(options);
  ModelSizes sizes = sizes_of(options.spec());
  if (options.model == "rmc" && (sizes.heads < 1 || sizes.slot_size % sizes.heads != 0))
    throw ValueError(text("TextModel: ", sizes.heads, " heads do not divide slots of ", sizes.slot_size,
                          " features; choose heads that do"));
  sizes.input = embedding_size(options, vocabulary);
  sizes.time = options.length;
  sizes.form = causal_form(options);
  return {vocabulary.size(), options.model, sizes, vocabulary.kind() == TokenKind::words};
}

TextModel model_of(const JsonFields& description, const std::vector<NamedTensor>& weights) {
  description.string("tokens"), description.integer("sizes.hidden");  // throw if they are missing
  const TextSource source = options_in(text_option_rows(), description, "");
  const ModelSpec spec = options_in(model_option_rows(), description, "sizes");
  const DtypeScope scope(weights.front().tensor.dtype());
  Random undrawn = random_for(weights);
  TextModel model({.model = description.string("model"),
                   .hidden = *spec.sizes.hidden,
                   .length = description.integer_in("length", 1, largest_count),
                   .form = spec.form,
                   .memory = spec.sizes,
                   .parts = spec.parts,
                   .embedding = description.integer_in("embedding", 1, largest_count)},
                  Vocabulary(source.kind(), description.strings("vocabulary")), undrawn);
  model.source = source;
  model.test_fingerprint = description.string("test_fingerprint");
  return model;
}

}  // namespace

ModelSpec TextModelOptions::spec() const {
  ModelSpec spec{.name = model, .sizes = {.hidden = hidden}, .parts = parts, .form = form};
  if (form.dropout == 0.0) spec.form.dropout.reset();  // none
  if (model != "rmc") return spec;
  const int heads = memory.heads.value_or(4);
  const std::int64_t slot_size = std::max<std::int64_t>(hidden / std::max(heads, 1), 1) * heads;
  spec.sizes = memory.or_else({.hidden = hidden, .slot_size = slot_size, .slots = 1, .heads = heads});
  spec.sizes.hidden = hidden;
  return spec;
}

std::int64_t embedding_size(const TextModelOptions& options, const Vocabulary& vocabulary) {
  constexpr std::int64_t enough = 64;
  if (options.embedding) return *options.embedding;
  if (vocabulary.kind() == TokenKind::words) return options.hidden;
  return std::min(options.hidden, std::max(vocabulary.size(), enough));
}

TextModel::TextModel(TextModelOptions given, Vocabulary known, Random& random)
    : options(std::move(given)), vocabulary(std::move(known)), network(network_options(options, vocabulary), random) {}

bool TextModel::carries_state() const {
  const std::optional<ModelChoices> choices = choices_of(options.model);
  return choices && choices->carried;
}

ModelDescription describe_text_model(const TextModel& model) {
  TextSource source = model.source;
  source.tokens = model.vocabulary.kind();
  JsonObject description{{"model", model.options.model},
                         {"sizes", sizes_to_json(model.options.spec())},
                         {"length", model.options.length},
                         {"embedding", embedding_size(model.options, model.vocabulary)},
                         {"vocabulary", model.vocabulary.tokens()},
                         {"test_fingerprint", model.test_fingerprint}};
  description.add(to_json(given_options(text_option_rows(), source)));
  return {metadata_entry, description.text()};
}

void save_text_model(const std::string& path, const TextModel& model) {
  std::map<std::string, Tensor> weights;
  for (const NamedTensor& weight : parameters(model.network)) weights.emplace(weight.name, weight.tensor);
  const auto [entry, json] = describe_text_model(model);
  write_safetensors(path, weights, {{entry, json}});
}

TextModel load_text_model(const std::string& path) {
  const SafetensorsFile file = read_safetensors(path);
  const auto refuse = [&](const std::string& why) {
    return FileError(text("load_text_model: ", path, " cannot be read as a model of text (", why,
                          "); make one by: retrace train text"));
  };
  const auto found = file.metadata.find(metadata_entry);
  if (found == file.metadata.end()) throw refuse("it has no vocabulary");
  try {
    const JsonFields description("the entry text_model of its metadata", found->second);
    const auto [weights, step] = weights_in(file, path);
    if (weights.empty()) throw ValueError("it has no weights");
    TextModel model = model_of(description, weights);
    assign(model.network, weights);
    check_finite(path, weights);
    model.step = step;
    return model;
  } catch (const Error& error) {
    throw refuse(error.what());
  }
}

std::optional<std::string> text_model_file(const std::string& path) {
  const std::optional<std::string> file = stored_weights_file(path);
  if (!file || !std::filesystem::exists(*file) || !read_safetensors(*file).metadata.contains(metadata_entry))
    return std::nullopt;
  return file;
}

}  // namespace retrace
