// The layers of a model by name: how many, in which directions, with which dropout, positions and mask.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <retrace/models/networks/row_positions.h>

namespace retrace {

class JsonFields;
class JsonObject;

/// The most layers that a model may have.
inline constexpr int most_layers = 1000;

/// The layers of a model, as far as it offers a choice (ModelChoices::form). What is not given is the model's own.
struct ModelForm {
  std::optional<int> layers = {};      // each reads the one below; of an rmc, the blocks of a step
  std::optional<double> dropout = {};  // the probability to drop a value between and after the layers, in training
                                       // alone; not given: 0
  bool bidirectional = false;          // each layer also reads from the last row to the first
  std::optional<RowPositions> positions = {};     // of the rows that attention sees
  std::optional<bool> causal = {};                // whether a row of attention sees only itself and those before it
  std::optional<std::int64_t> feed_forward = {};  // the features of the MLP in a layer of attention, or of a gated one
                                                  // that each layer of a delta-net or mlstm then has
  bool operator==(const ModelForm&) const = default;
};

/// "layers", "dropout", "bidirectional", "positions", "causal" and "feed-forward".
std::span<const std::string_view> form_option_names();
/// The form with those options alone that the model has; one that takes any, or is not known, keeps them all.
ModelForm form_for(std::string_view model, const ModelForm& form);
/// Throws ValueError for an option in the form that the model does not have, and names the models that have it.
/// `function` begins the message.
void check_form(std::string_view function, std::string_view model, const ModelForm& form);

/// Throws likewise for an option that none of the models has.
void check_form_of_some(std::string_view function, std::span<const std::string> models, const ModelForm& form);

/// The options that are given, as members of an object.
JsonObject to_json(const ModelForm& form);
/// Reads them from the members of an object. Throws ValueError for one that is out of range.
ModelForm model_form_in(const JsonFields& fields, const std::string& object);
/// ", 2 layers, dropout 0.1, bidirectional, positions rotary, causal, feed-forward 128", of those that are given.
std::string in_words(const ModelForm& form);

}  // namespace retrace
