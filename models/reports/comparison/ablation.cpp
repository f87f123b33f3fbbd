#include <retrace/models/formats/error_words.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/reports/comparison/ablation.h>

#include <algorithm>
#include <set>

namespace retrace {
namespace {

bool* switch_of(ModelSpec& model, std::string_view factor) {
  if (factor == "residual") return &model.parts.residual;
  if (factor == "layer-norm") return &model.parts.layer_norm;
  return &model.parts.attention_mlp;
}

/// The size of q and k in a head.
std::int64_t key_size_of(const ModelSpec& model) {
  const ModelSizes sizes = sizes_of(model);
  return model.parts.key_size != 0 ? model.parts.key_size : sizes.slot_size / sizes.heads;
}

/// "gate unit", "residual on", "keys of 16".
std::string setting_of(ModelSpec& model, std::string_view factor) {
  if (factor == "gate") return text("gate ", name_of(model.parts.gate));
  if (factor == "key-size") return text("keys of ", key_size_of(model));
  if (factor == "mlp-layers") return text("MLP layers ", model.parts.mlp_layers);
  if (factor == "variant") return text("variant ", name_of(model.parts.variant));
  return text(factor, *switch_of(model, factor) ? " on" : " off");
}

/// Copies of the baseline with the other settings of a factor.
std::vector<Variation> settings_of(std::string_view factor, const RunOptions& baseline) {
  std::vector<Variation> settings;
  const auto add = [&](std::string_view setting) -> ModelSpec& {
    settings.push_back({std::string(factor), std::string(setting), baseline});
    return settings.back().run.model;
  };
  const ModelSpec& model = baseline.model;
  if (factor == "heads") {
    for (const int heads : {1, 2, 4, 8})
      if (heads != model.sizes.heads) add(std::to_string(heads)).sizes.heads = heads;
  } else if (factor == "slots") {
    const std::int64_t chosen = sizes_of(model).slots;
    for (const std::int64_t slots : std::set<std::int64_t>{1, std::max<std::int64_t>(1, chosen / 2), 2 * chosen})
      if (slots != chosen) add(std::to_string(slots)).sizes.slots = slots;
  } else if (factor == "gate") {
    for (const MemoryGate gate : memory_choices(model).gates)
      if (gate != model.parts.gate) add(name_of(gate)).parts.gate = gate;
  } else if (factor == "key-size") {
    const std::int64_t chosen = key_size_of(model);
    for (const std::int64_t size : {std::max<std::int64_t>(1, chosen / 2), 2 * chosen})
      if (size != chosen) add(std::to_string(size)).parts.key_size = size;
  } else if (factor == "mlp-layers") {
    for (const std::int64_t layers : {1, 2, 3})
      if (layers != model.parts.mlp_layers) add(std::to_string(layers)).parts.mlp_layers = layers;
  } else if (factor == "variant") {
    for (std::size_t k = 0; k < variant_names().size(); ++k)
      if (const auto variant = static_cast<CoreVariant>(k); variant != model.parts.variant)
        add(name_of(variant)).parts.variant = variant;
  } else {
    ModelSpec changed = model;
    bool& is_on = *switch_of(changed, factor);
    is_on = !is_on;
    add(is_on ? "on" : "off") = changed;
  }
  return settings;
}

/// The baseline's setting of every factor that it has.
std::string in_words(ModelSpec model) {
  const ModelSizes sizes = sizes_of(model);
  const MemoryChoices choices = memory_choices(model);
  std::string words = text(sizes.heads, " heads");
  if (choices.has("slots")) words += text(", ", sizes.slots, " slots of ", sizes.slot_size);
  for (const std::string_view factor : choices.parts) {
    if (factor == "heads" || factor == "slots") continue;
    words += text(", ", setting_of(model, factor));
  }
  const std::string form = in_words(model.form);
  return form.empty() ? words : words + ", " + form;
}

std::vector<std::string_view> factors_of(const AblateOptions& options) {
  const ModelSpec& model = options.run.model;
  const auto choices = memory_choices(model).parts;
  if (choices.empty()) {
    const std::span<const std::string_view> models = model_names();
    if (std::ranges::find(models, model.name) == models.end())
      throw ValueError(unknown_name("ablate", "model with a relational memory", model.name, memory_model_names(), {},
                                    listed_models(memory_model_names())));
    throw ValueError(text("ablate: the model '", model.name,
                          "' has no memory whose parts could be changed; choose one ", "of ",
                          listed_models(memory_model_names())));
  }
  if (options.factors.empty()) return choices;
  std::vector<std::string_view> factors;
  for (const std::string& name : options.factors) {
    if (std::ranges::find(choices, name) == choices.end())
      throw ValueError(unknown_name("ablate", text("factor of ", full_name(model)), name, choices));
    if (std::ranges::find(factors, name) == factors.end()) factors.push_back(name);
  }
  return factors;
}

}  // namespace

Variations variations_of(const AblateOptions& options) {
  const std::vector<std::string_view> factors = factors_of(options);
  const RunOptions baseline = prepare(options.run).options;
  Variations variations{.kept = {{"baseline", in_words(baseline.model), baseline}}, .left_out = {}};
  for (const std::string_view factor : factors)
    for (Variation& variation : settings_of(factor, baseline)) {
      try {
        prepare(variation.run);
        variations.kept.push_back(std::move(variation));
      } catch (const ValueError& error) {
        variations.left_out.push_back(
            text("Left out: ", factor, " ", variation.setting, ": ", without_function(error.what())));
      }
    }
  const auto choices = memory_choices(baseline.model).parts;
  for (const std::string_view factor : memory_part_names())
    if (options.factors.empty() && std::ranges::find(choices, factor) == choices.end())
      variations.left_out.push_back(
          text("Left out: ", factor, ": ", full_name(baseline.model), " has no choice of it"));
  return variations;
}

Ablation ablate(const AblateOptions& options) {
  Ablation ablation{.variations = variations_of(options), .comparison = {}};
  for (const std::string& line : ablation.variations.left_out) options.tell(line);
  RunOptions baseline = options.run;
  baseline.fit = ablation.variations.kept.front().run.fit;  // with the numbers of the model's recipe
  std::vector<Entry> entries;
  for (const Variation& variation : ablation.variations.kept)
    entries.push_back(
        {entries.empty() ? variation.factor : text(variation.factor, " ", variation.setting), variation.run});
  ablation.comparison = compare({.run = baseline,
                                 .models = {},
                                 .seeds = options.seeds,
                                 .learning_rates = {},
                                 .tell = options.tell,
                                 .train = options.train},
                                entries);
  return ablation;
}

}  // namespace retrace
