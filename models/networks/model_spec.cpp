#include <retrace/core/base/error.h>
#include <retrace/models/formats/counts.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/model_spec.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

/// The value of an enumeration by the name that a file gives for sizes.`kind`.
template <class Enumeration>
Enumeration named_in(const JsonFields& fields, const std::string& kind, std::span<const std::string_view> names) {
  const std::string field = "sizes." + kind, &name = fields.string(field);
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw ValueError(unknown_name(field, kind, name, names));
  return static_cast<Enumeration>(found - names.begin());
}

MemoryParts parts_in(const JsonFields& fields) {
  MemoryParts result{.gate = named_in<MemoryGate>(fields, "gate", gate_names()),
                     .residual = fields.truth("sizes.residual"),
                     .layer_norm = fields.truth("sizes.layer_norm"),
                     .attention_mlp = fields.truth("sizes.attention_mlp")};
  if (fields.has("sizes.key_size")) result.key_size = fields.integer_in("sizes.key_size", 1, largest_count);
  if (fields.has("sizes.mlp_layers")) result.mlp_layers = fields.integer_in("sizes.mlp_layers", 1, most_mlp_layers);
  if (fields.has("sizes.variant")) result.variant = named_in<CoreVariant>(fields, "variant", variant_names());
  return result;
}

}  // namespace

std::span<const std::string_view> gate_names() {
  static constexpr std::array<std::string_view, 3> names{"unit", "memory", "none"};
  return names;
}

std::string_view name_of(MemoryGate gate) { return gate_names()[static_cast<std::size_t>(gate)]; }

std::span<const std::string_view> variant_names() {
  static constexpr std::array<std::string_view, 4> names{"authors", "l0sg", "blog", "relgan"};
  return names;
}

std::string_view name_of(CoreVariant variant) { return variant_names()[static_cast<std::size_t>(variant)]; }

SizeOptions SizeOptions::or_else(const SizeOptions& defaults) const {
  const auto either = [](const auto& chosen, const auto& otherwise) { return chosen ? chosen : otherwise; };
  return {.hidden = either(hidden, defaults.hidden),
          .slot_size = either(slot_size, defaults.slot_size),
          .slots = either(slots, defaults.slots),
          .heads = either(heads, defaults.heads)};
}

ModelSizes sizes_of(const ModelSpec& spec) {
  constexpr auto number = [](const auto& chosen, auto otherwise) { return chosen.value_or(otherwise); };
  const auto& [hidden, slot_size, slots, heads] = spec.sizes;
  const ModelSizes defaults;
  return {.hidden = number(hidden, defaults.hidden),
          .slot_size = number(slot_size, defaults.slot_size),
          .slots = number(slots, defaults.slots),
          .heads = number(heads, defaults.heads),
          .memory = spec.memory,
          .parts = spec.parts,
          .form = spec.form};
}

// Does not compile if a member is added, which then has to be stored.
JsonObject sizes_to_json(const ModelSpec& spec) {
  const auto& [name, sizes, memory, parts, form] = spec;
  const auto& [hidden, slot_size, slots, heads] = sizes;
  const auto& [gate, residual, layer_norm, attention_mlp, key_size, mlp_layers, variant] = parts;
  JsonObject object{{"hidden", hidden},     {"slot_size", slot_size},   {"slots", slots},
                    {"heads", heads},       {"memory", memory},         {"gate", name_of(gate)},
                    {"residual", residual}, {"layer_norm", layer_norm}, {"attention_mlp", attention_mlp}};
  // Only where they differ, as files had them before there was a choice.
  if (key_size != MemoryParts{}.key_size) object.add("key_size", key_size);
  if (mlp_layers != MemoryParts{}.mlp_layers) object.add("mlp_layers", mlp_layers);
  if (variant != MemoryParts{}.variant) object.add("variant", name_of(variant));
  object.add(to_json(form));
  return object;
}

ModelSpec model_spec_in(const JsonFields& fields) {
  const auto size = [&](const char* name) { return fields.integer_in(name, 1, largest_count); };
  return {.name = fields.string("model"),
          .sizes = {.hidden = size("sizes.hidden"),
                    .slot_size = size("sizes.slot_size"),
                    .slots = size("sizes.slots"),
                    .heads = static_cast<int>(size("sizes.heads"))},
          .memory = fields.string("sizes.memory"),
          .parts = parts_in(fields),
          .form = model_form_in(fields, "sizes")};
}

}  // namespace retrace
