// The options that a model has in a ModelSpec.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <retrace/models/networks/model_spec.h>

namespace retrace {

/// A relational memory that a model can have, and its options in a ModelSpec.
struct MemoryChoices {
  std::string_view name = {};                // ModelSpec::memory; empty where a model has only this one
  std::vector<std::string_view> parts = {};  // names of model_option_rows(), as the next
  std::vector<MemoryGate> gates = {};
  bool heads_divide_slots = true;  // whether each head has its part of the features of a slot

  bool has(std::string_view part) const { return std::find(parts.begin(), parts.end(), part) != parts.end(); }
};

/// The options of a model in a ModelSpec, beside its hidden size; without memories, it has none of a memory.
struct ModelChoices {
  std::vector<MemoryChoices> memories = {};
  std::vector<std::string_view> form = {};  // names of model_option_rows()
  std::optional<int> heads = {};            // the default; if not given, that of the task's recipe
  std::optional<std::int64_t> slots = {};   // likewise
  bool rows = false;     // whether ModelSizes::output may be 0: the answers are then its rows before the last layer
  bool carried = false;  // whether it begins a segment of a text with the state after the one before, in training too
};

}  // namespace retrace
