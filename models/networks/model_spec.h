// A model by name with its options, as given on the command line and stored in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/formats/option_rows.h>
#include <retrace/models/networks/row_positions.h>
#include <retrace/nn/memory/relational_memory_core.h>

namespace retrace {

/// The layers of a model, as far as it offers a choice (ModelChoices::form). What is not given is the model's own.
struct ModelForm {
  std::optional<int> layers = {};      // each reads the one below; of an rmc, the blocks of a step
  std::optional<double> dropout = {};  // the probability to drop a value between and after the layers, in training
                                       // only; not given: 0
  bool bidirectional = false;          // each layer also reads from the last row to the first
  std::optional<RowPositions> positions = {};     // of the rows that attention sees
  std::optional<bool> causal = {};                // whether a row of attention sees only itself and those before it
  std::optional<std::int64_t> feed_forward = {};  // the features of the MLP in a layer of attention, or of a gated one
                                                  // that each layer of a delta-net or mlstm then has
  bool operator==(const ModelForm&) const = default;
};

/// A published implementation of the relational memory core (nn/memory/relational_memory_core_variants.h).
enum class CoreVariant { authors, l0sg, blog, relgan };

/// The parts of a memory beside its attention; each can be left out or changed alone, to measure its effect.
struct MemoryParts {
  MemoryGate gate = MemoryGate::unit;
  bool residual = true;
  bool layer_norm = true;
  bool attention_mlp = true;
  std::int64_t key_size = 0;  // of q and k in a head; 0: as of its values
  std::int64_t mlp_layers = 2;
  CoreVariant variant = CoreVariant::authors;
  bool operator==(const MemoryParts&) const = default;
};

/// The names of gates and variants, in the order of their enumerations, and the memories that a relational-rnn can
/// have.
std::span<const std::string_view> gate_names();
std::span<const std::string_view> variant_names();
std::span<const std::string_view> memory_names();
inline std::string_view name_of(MemoryGate gate) { return gate_names()[static_cast<std::size_t>(gate)]; }
inline std::string_view name_of(CoreVariant variant) { return variant_names()[static_cast<std::size_t>(variant)]; }

/// Sizes that are chosen; a recipe or a default gives the others.
struct SizeOptions {
  std::optional<std::int64_t> hidden = {};
  std::optional<std::int64_t> slot_size = {};  // of a relational memory, as the next two
  std::optional<std::int64_t> slots = {};
  std::optional<int> heads = {};
  bool operator==(const SizeOptions&) const = default;

  /// These sizes, completed by those of `defaults` where none was chosen.
  SizeOptions or_else(const SizeOptions& defaults) const;
};

/// The name of a model, and its options.
struct ModelSpec {
  std::string name = {};  // model_names()
  SizeOptions sizes = {};
  std::string memory = "cell";  // one of those that the model can have
  MemoryParts parts = {};
  ModelForm form = {};
};

/// All the numbers from which a model is made: those of a ModelSpec and those of the task.
struct ModelSizes {
  std::int64_t input = 1;
  std::int64_t hidden = 64;
  std::int64_t output = 1;      // 0, where ModelChoices::rows allows it: without the last layer
  std::int64_t slot_size = 64;  // of a relational memory, as the next two
  std::int64_t slots = 4;
  int heads = 2;
  std::int64_t time = 64;       // rows of the longest sequence, for models that know positions
  std::int64_t input_rows = 0;  // of them, those before the first answer, for a tape that jumps by them
  std::string memory = "cell";
  MemoryParts parts = {};
  ModelForm form = {};
};

/// All sizes of the ModelSpec but those of the task; ModelSizes{} gives those that are not chosen.
ModelSizes sizes_of(const ModelSpec& spec);

/// All options of a ModelSpec; a model has some of them (has_option in model_options.h).
OptionRows<ModelSpec> model_option_rows();
/// "heads", "slots", "gate" and the other parts of a memory that `retrace ablate` changes.
std::vector<std::string_view> memory_part_names();

/// The options as the object "sizes" in the description of a stored model.
JsonObject sizes_to_json(const ModelSpec& spec);
/// Reads the members "model" and "sizes". Throws ValueError for one that is missing or out of range.
ModelSpec model_spec_in(const JsonFields& fields);

/// The options of the form that are given, as members of an object, and as "layers 2, dropout 0.1, not causal".
JsonObject to_json(const ModelForm& form);
std::string in_words(const ModelForm& form);

}  // namespace retrace
