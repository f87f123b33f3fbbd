#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/networks/sequence_model.h>

#include <algorithm>

namespace retrace {
namespace {

/// "lstm, gru, rnn"; of models that can have several memories, those that have the option: "relational-rnn:cell".
std::string models_with(std::string_view option) {
  std::vector<std::string> list;
  for (const std::string_view name : model_names()) {
    const std::optional<ModelChoices> choices = choices_of(name);
    if (!choices) continue;
    std::vector<std::string> with;
    const auto add = [&](std::string_view memory) {
      const ModelSpec spec{.name = std::string(name), .memory = std::string(memory)};
      if (has_option(spec, option)) with.push_back(full_name(spec));
    };
    if (choices->memories.empty()) add("");
    for (const MemoryChoices& memory : choices->memories) add(memory.name);
    if (with.size() > 1 && with.size() == choices->memories.size()) with = {std::string(name)};
    list.insert(list.end(), with.begin(), with.end());
  }
  return joined(list);
}

}  // namespace

MemoryChoices memory_choices(const ModelSpec& spec) {
  const std::optional<ModelChoices> choices = choices_of(spec.name);
  if (!choices || choices->memories.empty()) return {};
  const auto found = std::ranges::find(choices->memories, spec.memory, &MemoryChoices::name);
  return found == choices->memories.end() ? choices->memories.front() : *found;
}

bool has_option(const ModelSpec& spec, std::string_view option) {
  const std::optional<ModelChoices> choices = choices_of(spec.name);
  if (!choices || option == "hidden") return true;
  if (option == "memory") return choices->memories.size() > 1;
  const MemoryChoices memory = memory_choices(spec);
  if (option == "slot-size") return !memory.parts.empty();  // also of models with heads that have a memory each
  return memory.has(option) || std::ranges::find(choices->form, option) != choices->form.end();
}

ModelSpec without_missing_options(ModelSpec spec) {
  for (const OptionRow<ModelSpec>& row : model_option_rows())
    if (!has_option(spec, row.name)) row.reset(spec);
  return spec;
}

void check_model_options(const char* function, const ModelSpec& spec) {
  const GivenOptions given = given_options(model_option_rows(), spec);
  for (const auto& [row, value] : given) {
    if (has_option(spec, row.name)) continue;
    const std::string memory = row.group == OptionGroup::memory ? memory_name(spec) : "";
    throw ValueError(text(function, ": the model '", spec.name, "'",
                          memory.empty() ? "" : text(" with the memory '", memory, "'"), " has no option '", row.name,
                          "', which is for ", models_with(row.name), "; leave it out"));
  }
  check_values(function, given);
}

void check_options_of_some(const char* function, std::span<const ModelSpec> models, const ModelSpec& given) {
  for (const GivenOption& each : given_options(model_option_rows(), given)) {
    const std::string_view option = each.row.name;
    if (std::ranges::none_of(models, [&](const ModelSpec& model) { return has_option(model, option); }))
      throw ValueError(text(function, ": none of the models has the option '", option, "', which is for ",
                            models_with(option), "; leave it out"));
  }
}

std::vector<std::string_view> memory_model_names() {
  std::vector<std::string_view> names;
  for (const std::string_view name : model_names())
    if (!memory_choices({.name = std::string(name)}).parts.empty()) names.push_back(name);
  return names;
}

std::string memory_name(const ModelSpec& spec) {
  const std::optional<ModelChoices> choices = choices_of(spec.name);
  return choices && choices->memories.size() > 1 ? spec.memory : "";
}

std::string full_name(const ModelSpec& spec) {
  const std::string memory = memory_name(spec);
  return memory.empty() ? spec.name : text(spec.name, ":", memory);
}

}  // namespace retrace
