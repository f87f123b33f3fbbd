#include <retrace/models/formats/json_fields.h>
#include <retrace/models/networks/model_spec.h>

#include <array>

namespace retrace {

std::span<const std::string_view> gate_names() {
  static constexpr std::array<std::string_view, 3> names{"unit", "memory", "none"};
  return names;
}

std::span<const std::string_view> variant_names() {
  static constexpr std::array<std::string_view, 4> names{"authors", "l0sg", "blog", "relgan"};
  return names;
}

std::span<const std::string_view> memory_names() {
  static constexpr std::array<std::string_view, 3> names{"cell", "gated", "notebook"};
  return names;
}

OptionRows<ModelSpec> model_option_rows() {
  using enum OptionGroup;
  constexpr auto sizes = &ModelSpec::sizes;
  constexpr auto parts = &ModelSpec::parts;
  constexpr auto form = &ModelSpec::form;
  static constexpr std::array rows{
      option<&ModelSpec::memory>("memory", memory, "memory of a relational-rnn: cell, gated or notebook"),
      option<sizes, &SizeOptions::heads>(
          "heads", memory, "attention heads of the memory, or read heads (default: the task's or the model's)"),
      option<sizes, &SizeOptions::slots>("slots", memory, "number of slots (default: the task's or the model's)"),
      option<sizes, &SizeOptions::slot_size>("slot-size", memory, "features per slot (default: the task's)"),
      option<parts, &MemoryParts::gate>("gate", memory,
                                        "gate for each element (unit, the default) or each slot (memory), or none",
                                        {.words = gate_names}),
      option<parts, &MemoryParts::residual>("residual", memory, "", {.no = "rmc: no residual connections"}),
      option<parts, &MemoryParts::layer_norm>("layer-norm", memory, "", {.no = "rmc: no layer norms"}),
      option<parts, &MemoryParts::attention_mlp>("attention-mlp", memory, "",
                                                 {.no = "rmc: no MLP after the attention"}),
      option<parts, &MemoryParts::key_size>(
          "key-size", memory, "rmc: features of queries and keys per head (default: as many as values have)"),
      option<parts, &MemoryParts::mlp_layers>("mlp-layers", memory, "rmc: layers of the MLP after the attention",
                                              {.range = {1, 100}}),
      option<parts, &MemoryParts::variant>(
          "variant", memory, "rmc: the authors' computation (the default), or a published one that differs from it",
          {.words = variant_names}),
      option<sizes, &SizeOptions::hidden>("hidden", model, "size of the model's state (default: the task's)"),
      option<form, &ModelForm::layers>(
          "layers", model,
          "number of stacked layers of an lstm, gru, rnn, attention, transformer, delta-net or mlstm; for an rmc, "
          "blocks per step (default: the model's)",
          {.range = {1, 1000}}),
      option<form, &ModelForm::dropout>(
          "dropout", model, "probability of dropping a value between and after layers, in training (default: 0)",
          {.range = from_0_to_below_1}),
      option<form, &ModelForm::bidirectional>("bidirectional", model,
                                              "lstm, gru, rnn: layers that also read from the last row to the first"),
      option<form, &ModelForm::positions>("positions", model,
                                          "attention, transformer: positions of the rows (default: learned)",
                                          {.words = position_names}),
      option<form, &ModelForm::causal>(
          "causal", model, "attention, transformer: each row sees only itself and the rows before it",
          {.no = "attention, transformer: each row sees all rows (the default, except on parity; not for text)"}),
      option<form, &ModelForm::feed_forward>(
          "feed-forward", model,
          "attention, transformer: features of the MLP in each layer (default: 2 and 4 times --hidden); delta-net, "
          "mlstm: features of a gated MLP after each layer (default: no MLP)")};
  return rows;
}

std::vector<std::string_view> memory_part_names() {
  std::vector<std::string_view> names;
  for (const OptionInfo& row : model_option_rows())
    if (row.group == OptionGroup::memory && row.name != "memory" && row.name != "slot-size") names.push_back(row.name);
  return names;
}

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

namespace {

/// The options that are given; a dropout of 0 is none.
GivenOptions stored_options(ModelSpec spec) {
  if (spec.form.dropout == 0.0) spec.form.dropout.reset();
  return given_options(model_option_rows(), spec);
}

}  // namespace

JsonObject sizes_to_json(const ModelSpec& spec) { return to_json(stored_options(spec)); }

ModelSpec model_spec_in(const JsonFields& fields) {
  for (const char* size : {"sizes.hidden", "sizes.slot_size", "sizes.slots", "sizes.heads"})
    fields.integer(size);  // throws for one that is missing: none has a default in a file
  ModelSpec spec = options_in(model_option_rows(), fields, "sizes");
  spec.name = fields.string("model");
  return spec;
}

JsonObject to_json(const ModelForm& form) { return to_json(stored_options({.form = form})); }

std::string in_words(const ModelForm& form) { return in_words(stored_options({.form = form})); }

}  // namespace retrace
