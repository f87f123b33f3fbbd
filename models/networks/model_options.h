// Which model has which of the options in a ModelSpec.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/networks/model_choices.h>

namespace retrace {

/// The options of the model's memory (of its first one, if it has none of that name).
MemoryChoices memory_choices(const ModelSpec& spec);
/// Whether the model, with its memory, has the option of that name (model_option_rows()). One that is not known, or was
/// registered without choices, has them all.
bool has_option(const ModelSpec& spec, std::string_view option);
/// The ModelSpec with the default in place of each option that the model does not have.
ModelSpec without_missing_options(ModelSpec spec);

/// Throws ValueError, in the name of `function`, for an option in the ModelSpec that is out of range or that the model
/// does not have; it then names the models that have it.
void check_model_options(const char* function, const ModelSpec& spec);
/// Throws likewise for an option in `given` that none of the models has.
void check_options_of_some(const char* function, std::span<const ModelSpec> models, const ModelSpec& given);

/// The names of the models with a relational memory.
std::vector<std::string_view> memory_model_names();
/// The name of its memory if the model can have several, otherwise empty.
std::string memory_name(const ModelSpec& spec);
/// "rmc", or with the name of its memory: "relational-rnn:cell".
std::string full_name(const ModelSpec& spec);

}  // namespace retrace
