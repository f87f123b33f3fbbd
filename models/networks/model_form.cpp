#include <retrace/core/base/error.h>
#include <retrace/models/formats/counts.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/networks/sequence_model.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

constexpr std::array<std::string_view, 6> form_options{"layers",    "dropout", "bidirectional",
                                                       "positions", "causal",  "feed-forward"};

bool is_given(const ModelForm& form, std::string_view option) {
  if (option == "layers") return form.layers.has_value();
  if (option == "dropout") return form.dropout.value_or(0) != 0;
  if (option == "bidirectional") return form.bidirectional;
  if (option == "causal") return form.causal.has_value();
  if (option == "feed-forward") return form.feed_forward.has_value();
  return form.positions.has_value();
}

void leave_out(ModelForm& form, std::string_view option) {
  if (option == "layers") form.layers.reset();
  if (option == "dropout") form.dropout.reset();
  if (option == "bidirectional") form.bidirectional = false;
  if (option == "positions") form.positions.reset();
  if (option == "causal") form.causal.reset();
  if (option == "feed-forward") form.feed_forward.reset();
}

/// Models that are not known and those without choices take any option.
bool has_option(std::string_view model, std::string_view option) {
  const std::optional<ModelChoices> choices = choices_of(model);
  return !choices || std::ranges::find(choices->form, option) != choices->form.end();
}

std::string models_with(std::string_view option) {
  std::string list;
  for (const std::string_view model : model_names())
    if (choices_of(model) && has_option(model, option)) list += text(list.empty() ? "" : ", ", model);
  return list;
}

}  // namespace

std::span<const std::string_view> form_option_names() { return form_options; }

ModelForm form_for(std::string_view model, const ModelForm& form) {
  ModelForm result = form;
  for (const std::string_view option : form_options)
    if (!has_option(model, option)) leave_out(result, option);
  return result;
}

void check_form(std::string_view function, std::string_view model, const ModelForm& form) {
  for (const std::string_view option : form_options)
    if (is_given(form, option) && !has_option(model, option))
      throw ValueError(text(function, ": the model '", model, "' has no option '", option, "', which is for ",
                            models_with(option), "; leave it out"));
  if (form.layers && *form.layers < 1)
    throw ValueError(text(function, ": ", *form.layers, " layers; at least one is needed"));
  if (form.feed_forward && *form.feed_forward < 1)
    throw ValueError(text(function, ": a feed-forward part of ", *form.feed_forward,
                          " features; at least one is needed, or leave it out"));
  if (form.dropout && !(*form.dropout >= 0 && *form.dropout <= 1))
    throw ValueError(text(function, ": the probability of dropout ", *form.dropout, " must lie from 0 to 1"));
}

void check_form_of_some(std::string_view function, std::span<const std::string> models, const ModelForm& form) {
  for (const std::string_view option : form_options) {
    const auto has = [&](const std::string& model) { return has_option(model.substr(0, model.find(':')), option); };
    if (is_given(form, option) && std::ranges::none_of(models, has))
      throw ValueError(text(function, ": none of the models has the option '", option, "', which is for ",
                            models_with(option), "; leave it out"));
  }
}

JsonObject to_json(const ModelForm& form) {
  const auto& [layers, dropout, bidirectional, positions, causal, feed_forward] =
      form;  // a new member has to be stored, too
  JsonObject object;
  if (layers) object.add("layers", *layers);
  if (dropout.value_or(0) != 0) object.add("dropout", *dropout);
  if (bidirectional) object.add("bidirectional", bidirectional);
  if (positions) object.add("positions", name_of(*positions));
  if (causal) object.add("causal", *causal);
  if (feed_forward) object.add("feed_forward", *feed_forward);
  return object;
}

ModelForm model_form_in(const JsonFields& fields, const std::string& object) {
  const std::string prefix = object.empty() ? "" : object + ".";
  ModelForm form;
  if (const std::string name = prefix + "layers"; fields.has(name))
    form.layers = static_cast<int>(fields.integer_in(name, 1, most_layers));
  if (const std::string name = prefix + "dropout"; fields.has(name)) form.dropout = fields.number_in(name, 0, 1);
  if (const std::string name = prefix + "bidirectional"; fields.has(name)) form.bidirectional = fields.truth(name);
  if (const std::string name = prefix + "positions"; fields.has(name))
    form.positions = positions_named(name, fields.string(name));
  if (const std::string name = prefix + "causal"; fields.has(name)) form.causal = fields.truth(name);
  if (const std::string name = prefix + "feed_forward"; fields.has(name))
    form.feed_forward = fields.integer_in(name, 1, largest_count);
  return form;
}

std::string in_words(const ModelForm& form) {
  std::string words;
  if (form.layers) words += text(", ", *form.layers, " layers");
  if (form.dropout.value_or(0) != 0) words += text(", dropout ", *form.dropout);
  if (form.bidirectional) words += ", bidirectional";
  if (form.positions) words += text(", positions ", name_of(*form.positions));
  if (form.causal) words += *form.causal ? ", causal" : ", not causal";
  if (form.feed_forward) words += text(", feed-forward ", *form.feed_forward);
  return words;
}

}  // namespace retrace
