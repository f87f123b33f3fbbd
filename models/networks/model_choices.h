// The options that a model has in a ModelSpec.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/networks/model_spec.h>

namespace retrace {

/// A relational memory that a model can have, and its options in a ModelSpec.
struct MemoryChoices {
  std::string_view name = {};                // ModelSpec::memory; empty where a model has only this one
  std::vector<std::string_view> parts = {};  // of memory_part_names()
  std::vector<MemoryGate> gates = {};
  bool heads_divide_slots = true;  // whether each head has its part of the features of a slot

  bool has(std::string_view part) const { return std::find(parts.begin(), parts.end(), part) != parts.end(); }
};

/// The options of a model in a ModelSpec, beside its hidden size; without memories, it has none of a memory.
struct ModelChoices {
  std::vector<MemoryChoices> memories = {};
  std::vector<std::string_view> form = {};  // of form_option_names()
  std::optional<int> heads = {};            // the default; if not given, that of the task's recipe
  std::optional<std::int64_t> slots = {};   // likewise
};

/// The memories that a relational-rnn can have.
std::span<const std::string_view> memory_names();
/// "heads", "slots", "gate", "residual", "layer-norm", "attention-mlp", "key-size", "mlp-layers" and "variant".
std::span<const std::string_view> memory_part_names();

/// The names of the memory's parts that are chosen in a ModelSpec.
std::vector<std::string_view> chosen_parts(const ModelSpec& spec);
/// The ModelSpec without the chosen parts, and the size of slots, that the model's memory does not have.
ModelSpec without_missing_parts(ModelSpec spec);
/// The options of the model's memory (of its first one, if it has none of that name).
MemoryChoices memory_choices(const ModelSpec& spec);
/// Whether SizeOptions::slot_size counts: for models with slots, for those with heads that have a memory each, and for
/// registered ones that do not say what can be chosen.
bool has_slot_size(const ModelSpec& spec);
/// The name of its memory if the model can have several, otherwise empty.
std::string memory_name(const ModelSpec& spec);
/// "rmc", or with the name of its memory: "relational-rnn:cell".
std::string full_name(const ModelSpec& spec);

}  // namespace retrace
