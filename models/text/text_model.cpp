#include <retrace/core/safetensors.h>
#include <retrace/models/nearest_name.h>
#include <retrace/models/text/text_model.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

namespace retrace {
namespace {

using nlohmann::json;

// In the order of LanguageBody.
constexpr std::array<std::string_view, 5> names{"lstm", "gru", "rnn", "rmc", "attention"};

LanguageBody body_named(std::string_view name) {
  const auto* found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw ValueError(unknown_name("TextModel", "model", name, names));
  return static_cast<LanguageBody>(found - names.begin());
}

LanguageModelOptions network_options(const TextModelOptions& options, const Vocabulary& vocabulary) {
  constexpr std::int64_t slots = 1, heads = 4;
  const std::int64_t head_size = std::max<std::int64_t>(options.hidden / heads, 1);
  return {.vocabulary = vocabulary.size(),
          .body = body_named(options.model),
          .embedding = options.hidden,
          .hidden = options.hidden,
          .core = {.slots = slots, .head_size = head_size, .heads = heads},
          .longest = options.length,
          .tied = vocabulary.kind() == TokenKind::words};
}

TextModel model_of(const SafetensorsFile& file, const json& description) {
  const TokenKind kind =
      description.at("tokens") == name_of(TokenKind::words) ? TokenKind::words : TokenKind::characters;
  const DtypeScope scope(file.tensors.begin()->second.dtype());
  Random random;
  return {{.model = description.at("model"), .hidden = description.at("hidden"), .length = description.at("length")},
          Vocabulary(kind, description.at("vocabulary").get<std::vector<std::string>>()),
          random};
}

}  // namespace

std::span<const std::string_view> text_model_names() { return names; }

TextModel::TextModel(TextModelOptions given, Vocabulary known, Random& random)
    : options(std::move(given)), vocabulary(std::move(known)), network(network_options(options, vocabulary), random) {}

void save_text_model(const std::string& path, const TextModel& model) {
  std::map<std::string, Tensor> weights;
  for (const NamedTensor& weight : parameters(model.network)) weights.emplace(weight.name, weight.tensor);
  const json description{{"model", model.options.model},
                         {"hidden", model.options.hidden},
                         {"length", model.options.length},
                         {"tokens", name_of(model.vocabulary.kind())},
                         {"vocabulary", model.vocabulary.tokens()}};
  write_safetensors(path, weights, {{"text_model", description.dump()}});
}

TextModel load_text_model(const std::string& path) {
  const SafetensorsFile file = read_safetensors(path);
  const auto refuse = [&](const std::string& why) {
    return FileError(text("load_text_model: ", path, " cannot be read as a model of text (", why,
                          "); make one by: retrace train text"));
  };
  const auto found = file.metadata.find("text_model");
  if (found == file.metadata.end() || file.tensors.empty()) throw refuse("it says nothing of a vocabulary");
  try {
    TextModel model = model_of(file, json::parse(found->second));
    std::vector<NamedTensor> values;
    for (const auto& [name, tensor] : file.tensors) values.push_back({name, tensor});
    assign(model.network, values);
    return model;
  } catch (const json::exception& error) {
    throw refuse(error.what());
  } catch (const Error& error) {
    throw refuse(error.what());
  }
}

}  // namespace retrace
