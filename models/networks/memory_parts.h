// What can be chosen of the relational memory in a model by name.
#pragma once

#include <span>
#include <string_view>

#include <retrace/nn/relational_memory_core.h>

namespace retrace {

/// What a memory has beside its attention; each can be left out alone, to see what it is worth.
struct MemoryParts {
  MemoryGate gate = MemoryGate::unit;
  bool residual = true;
  bool layer_norm = true;
  bool attention_mlp = true;
  bool operator==(const MemoryParts&) const = default;
};

/// "unit", "memory" and "none", in the order of MemoryGate.
std::span<const std::string_view> gate_names();
/// Which of "heads", "slots", "gate", "residual", "layer-norm" and "attention-mlp" a model lets one choose: all for an
/// rmc, for a relational-rnn those that its memory (memory_names()) has, none for any other.
std::span<const std::string_view> memory_choices(std::string_view model, std::string_view memory);

}  // namespace retrace
