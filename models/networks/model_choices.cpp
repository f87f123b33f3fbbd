#include <retrace/models/networks/model_choices.h>
#include <retrace/models/networks/sequence_model.h>

#include <array>

namespace retrace {
namespace {

/// A part of a memory, as a ModelSpec has it.
struct PartChoice {
  std::string_view name;
  bool (*is_chosen)(const ModelSpec& spec);
  void (*reset)(ModelSpec& spec);
};

template <auto size> constexpr PartChoice size_choice(std::string_view name) {
  return {name, [](const ModelSpec& spec) { return (spec.sizes.*size).has_value(); },
          [](ModelSpec& spec) { spec.sizes.*size = std::nullopt; }};
}
template <auto part> constexpr PartChoice part_choice(std::string_view name) {
  return {name, [](const ModelSpec& spec) { return spec.parts.*part != MemoryParts{}.*part; },
          [](ModelSpec& spec) { spec.parts.*part = MemoryParts{}.*part; }};
}

constexpr std::array part_choices{size_choice<&SizeOptions::heads>("heads"),
                                  size_choice<&SizeOptions::slots>("slots"),
                                  part_choice<&MemoryParts::gate>("gate"),
                                  part_choice<&MemoryParts::residual>("residual"),
                                  part_choice<&MemoryParts::layer_norm>("layer-norm"),
                                  part_choice<&MemoryParts::attention_mlp>("attention-mlp"),
                                  part_choice<&MemoryParts::key_size>("key-size"),
                                  part_choice<&MemoryParts::mlp_layers>("mlp-layers"),
                                  part_choice<&MemoryParts::variant>("variant")};

constexpr auto part_names = [] {
  std::array<std::string_view, part_choices.size()> names;
  for (std::size_t k = 0; k < names.size(); ++k) names[k] = part_choices[k].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> memory_names() {
  static constexpr std::array<std::string_view, 3> names{"cell", "gated", "notebook"};
  return names;
}

std::span<const std::string_view> memory_part_names() { return part_names; }

MemoryChoices memory_choices(const ModelSpec& spec) {
  const std::optional<ModelChoices> choices = choices_of(spec.name);
  if (!choices || choices->memories.empty()) return {};
  const auto found = std::ranges::find(choices->memories, spec.memory, &MemoryChoices::name);
  return found == choices->memories.end() ? choices->memories.front() : *found;
}

std::vector<std::string_view> chosen_parts(const ModelSpec& spec) {
  std::vector<std::string_view> chosen;
  for (const PartChoice& part : part_choices)
    if (part.is_chosen(spec)) chosen.push_back(part.name);
  return chosen;
}

ModelSpec without_missing_parts(ModelSpec spec) {
  const MemoryChoices own = memory_choices(spec);
  for (const PartChoice& part : part_choices)
    if (!own.has(part.name)) part.reset(spec);
  if (!has_slot_size(spec)) spec.sizes.slot_size = std::nullopt;
  if (memory_name(spec).empty()) spec.memory = ModelSpec{}.memory;
  return spec;
}

bool has_slot_size(const ModelSpec& spec) { return !choices_of(spec.name) || !memory_choices(spec).parts.empty(); }

std::string memory_name(const ModelSpec& spec) {
  const std::optional<ModelChoices> choices = choices_of(spec.name);
  return choices && choices->memories.size() > 1 ? spec.memory : "";
}

std::string full_name(const ModelSpec& spec) {
  const std::string memory = memory_name(spec);
  return memory.empty() ? spec.name : text(spec.name, ":", memory);
}

}  // namespace retrace
