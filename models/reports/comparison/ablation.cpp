#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/reports/comparison/ablation.h>

#include <algorithm>
#include <set>

namespace retrace {
namespace {

std::string_view gate_of(const RunOptions& run) { return gate_names()[static_cast<std::size_t>(run.parts.gate)]; }

bool* switch_of(RunOptions& run, std::string_view factor) {
  if (factor == "residual") return &run.parts.residual;
  if (factor == "layer-norm") return &run.parts.layer_norm;
  return &run.parts.attention_mlp;
}

/// The baseline with every other setting of a factor.
std::vector<Variation> settings_of(std::string_view factor, const RunOptions& baseline) {
  std::vector<Variation> settings;
  const auto add = [&](std::string_view setting) -> RunOptions& {
    settings.push_back({std::string(factor), std::string(setting), baseline});
    return settings.back().run;
  };
  if (factor == "heads") {
    for (const int heads : {1, 2, 4, 8})
      if (heads != baseline.heads) add(std::to_string(heads)).heads = heads;
  } else if (factor == "slots") {
    for (const std::int64_t slots :
         std::set<std::int64_t>{1, std::max<std::int64_t>(1, baseline.slots / 2), 2 * baseline.slots})
      if (slots != baseline.slots) add(std::to_string(slots)).slots = slots;
  } else if (factor == "gate") {
    const bool has_gates_of_slots = baseline.model == "rmc";
    for (const MemoryGate gate : {MemoryGate::unit, MemoryGate::memory, MemoryGate::none})
      if ((has_gates_of_slots || gate != MemoryGate::memory) && gate != baseline.parts.gate)
        add(gate_names()[static_cast<std::size_t>(gate)]).parts.gate = gate;
  } else {
    RunOptions changed = baseline;
    bool& is_on = *switch_of(changed, factor);
    is_on = !is_on;
    add(is_on ? "on" : "off") = changed;
  }
  return settings;
}

std::string name_of(const RunOptions& run) {
  return run.model == "relational-rnn" ? text(run.model, ":", run.memory) : run.model;
}

/// The baseline's setting of every factor that it has.
std::string in_words(RunOptions run) {
  std::string words = text(run.heads, " heads, ", run.slots, " slots of ", run.slot_size);
  for (const std::string_view factor : memory_choices(run.model, run.memory)) {
    if (factor == "heads" || factor == "slots") continue;
    words +=
        factor == "gate" ? text(", gate ", gate_of(run)) : text(", ", factor, *switch_of(run, factor) ? " on" : " off");
  }
  return words;
}

std::vector<std::string_view> factors_of(const AblateOptions& options) {
  static constexpr std::string_view models[] = {"rmc", "relational-rnn"};
  const auto choices = memory_choices(options.run.model, options.run.memory);
  if (choices.empty())
    throw ValueError(unknown_name("ablate", "model with a relational memory", options.run.model, models));
  if (options.factors.empty()) return {choices.begin(), choices.end()};
  std::vector<std::string_view> factors;
  for (const std::string& name : options.factors) {
    if (std::ranges::find(choices, name) == choices.end())
      throw ValueError(unknown_name("ablate", text("factor of ", name_of(options.run)), name, choices));
    if (std::ranges::find(factors, name) == factors.end()) factors.push_back(name);
  }
  return factors;
}

}  // namespace

Variations variations_of(const AblateOptions& options) {
  const std::vector<std::string_view> factors = factors_of(options);
  const RunOptions baseline = prepare(options.run).options;
  Variations variations{.kept = {{"baseline", in_words(baseline), baseline}}, .left_out = {}};
  for (const std::string_view factor : factors)
    for (Variation& variation : settings_of(factor, baseline)) {
      try {
        prepare(variation.run);
        variations.kept.push_back(std::move(variation));
      } catch (const ValueError& error) {
        variations.left_out.push_back(text("Left out: ", factor, " ", variation.setting, ": ", error.what()));
      }
    }
  const auto choices = memory_choices(baseline.model, baseline.memory);
  for (const std::string_view factor : memory_choices("rmc", ""))  // which has them all
    if (options.factors.empty() && std::ranges::find(choices, factor) == choices.end())
      variations.left_out.push_back(text("Left out: ", factor, ": ", name_of(baseline), " has no choice of it"));
  return variations;
}

Ablation ablate(const AblateOptions& options) {
  Ablation ablation{.variations = variations_of(options), .comparison = {}};
  for (const std::string& line : ablation.variations.left_out) options.tell(line);
  std::vector<Entrant> entrants;
  for (const Variation& variation : ablation.variations.kept)
    entrants.push_back(
        {entrants.empty() ? variation.factor : text(variation.factor, " ", variation.setting), variation.run});
  ablation.comparison =
      compare({.run = options.run, .models = {}, .seeds = options.seeds, .learning_rates = {}}, entrants);
  return ablation;
}

}  // namespace retrace
