// The models by name.
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/recurrent_model.h>
#include <retrace/models/networks/registry.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/rmc_model.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/networks/slot_memory_model.h>

#include <algorithm>
#include <utility>

namespace retrace {
namespace {

MemoryKind memory_kind(std::string_view name) {
  if (name == "cell") return MemoryKind::cell;
  if (name == "gated") return MemoryKind::relational;
  if (name == "notebook") return MemoryKind::notebook;
  throw ValueError(unknown_name("make_model", "memory", name, memory_names()));
}

/// A RelationalRNN that answers after the last rows.
struct RelationalModel {
  RelationalRNN network;

  RelationalModel(const ModelSizes& sizes, Random& random)
      : network(sizes.input, sizes.hidden, sizes.output, random,
                {.kind = memory_kind(sizes.memory),
                 .slots = sizes.slots,
                 .slot_size = sizes.slot_size,
                 .heads = sizes.heads,
                 .gate = sizes.parts.gate != MemoryGate::none},
                sizes.form.dropout.value_or(0)) {}
  Tensor operator()(const Tensor& x, Random* random = nullptr) const { return network.last(x, random).y; }
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const {
    return network.answers(x, count, random).y;
  }
  Continued continued(const Tensor& x, const SequenceState& state, Random* random = nullptr) const {
    const Tensors parts = state.take(3);
    auto [y, after] = network.continued(x, {{parts[0], parts[1]}, parts[2]}, random);
    return {std::move(y), {{after.lstm.h, after.lstm.c, after.memory}}};
  }
  MemoryTrace trace(const Tensor& x) const { return network.trace(x); }
  StatesOverTime states(const Tensor& x) const { return network.states(x); }
  void visit(auto&& see) const { network.visit(see); }
};

RelationalMemoryCoreVariant variant_of(CoreVariant variant) {
  switch (variant) {
    case CoreVariant::l0sg:
      return l0sg_variant();
    case CoreVariant::blog:
      return blog_variant();
    case CoreVariant::relgan:
      return relgan_variant();
    case CoreVariant::authors:
      break;
  }
  return {};
}

std::unique_ptr<SequenceModel> make_rmc(const ModelSizes& sizes, Random& random) {
  return std::make_unique<SequenceModelOf<RmcModel>>(
      RmcModelOptions{.input = sizes.input, .output = sizes.output, .core = core_options(sizes)}, random);
}

template <BlockKind kind> std::unique_ptr<SequenceModel> make_attention(const ModelSizes& sizes, Random& random) {
  AttentionModelOptions options{
      .input = sizes.input, .output = sizes.output, .size = sizes.hidden, .longest = sizes.time};
  if (options.size % options.heads != 0)
    throw ValueError(text("make_model: the ", options.heads, " heads of attention do not divide a hidden size of ",
                          options.size, "; choose a multiple of ", options.heads));
  options.blocks = sizes.form.layers.value_or(options.blocks);
  options.positions = sizes.form.positions.value_or(options.positions);
  options.feed_forward = sizes.form.feed_forward.value_or(options.feed_forward);
  options.dropout = sizes.form.dropout.value_or(0);
  options.kind = kind;
  options.causal = sizes.form.causal.value_or(options.causal);
  return std::make_unique<SequenceModelOf<AttentionModel>>(options, random);
}

struct Entry {
  ModelFactory make;
  std::optional<ModelChoices> choices;
};

/// The options of the SlotMemory of this name, with or without gates that can be left out.
MemoryChoices slot_memory_choices(std::string_view name, bool gate) {
  if (!gate) return {name, {"heads", "slots"}, {}};
  return {name, {"heads", "slots", "gate"}, {MemoryGate::unit, MemoryGate::none}};
}

ModelChoices relational_choices() {
  return {.memories = {slot_memory_choices("cell", true), slot_memory_choices("gated", true),
                       slot_memory_choices("notebook", false)},
          .form = {"dropout"},
          .heads = SlotMemoryOptions{}.heads};
}

ModelChoices slot_choices() {
  return {.memories = {slot_memory_choices("", true)}, .form = {"dropout"}, .heads = SlotMemoryOptions{}.heads};
}

ModelChoices rmc_choices() {
  return {.memories = {{"", memory_part_names(), {MemoryGate::unit, MemoryGate::memory, MemoryGate::none}}},
          .form = {"layers", "dropout"},
          .rows = true,
          .carried = true};
}

ModelChoices recurrent_choices() {
  return {.form = {"layers", "dropout", "bidirectional"}, .rows = true, .carried = true};
}
ModelChoices attention_choices(bool rows) {
  return {.form = {"layers", "dropout", "positions", "causal", "feed-forward"}, .rows = rows};
}

/// The library's models, but for those of the zoo: a new one is a line here.
Registry<Entry>& models() {
  static Registry<Entry> all(
      "register_model", "make_model", "model",
      {{"lstm", {factory_of<RecurrentModel<Lstm>>(), recurrent_choices()}},
       {"gru", {factory_of<RecurrentModel<Gru>>(), recurrent_choices()}},
       {"rnn", {factory_of<RecurrentModel<Rnn>>(), recurrent_choices()}},
       {"relational-rnn", {factory_of<RelationalModel>(), relational_choices()}},
       {"rmc", {make_rmc, rmc_choices()}},
       {"attention", {make_attention<BlockKind::attention_block>, attention_choices(true)}},
       {"transformer", {make_attention<BlockKind::encoder_layer>, attention_choices(false)}},
       {"relational-memory", {factory_of<SlotMemoryModel<MemoryKind::relational>>(), slot_choices()}}});
  return all;
}

}  // namespace

RelationalMemoryCoreOptions core_options(const ModelSizes& sizes) {
  RelationalMemoryCoreOptions core{.slots = sizes.slots,
                                   .head_size = sizes.slot_size / sizes.heads,
                                   .heads = sizes.heads,
                                   .blocks = sizes.form.layers.value_or(1),
                                   .residual = sizes.parts.residual,
                                   .layer_norm = sizes.parts.layer_norm,
                                   .gate = sizes.parts.gate,
                                   .dropout = sizes.form.dropout.value_or(0)};
  core.key_size = sizes.parts.key_size;
  core.mlp_layers = sizes.parts.attention_mlp ? static_cast<int>(sizes.parts.mlp_layers) : 0;
  core.variant = variant_of(sizes.parts.variant);
  return core;
}

void register_model(std::string_view name, ModelFactory factory, const std::optional<ModelChoices>& choices,
                    std::string_view collection) {
  if (!factory) throw ValueError(text("register_model: the factory of '", name, "' is empty; give a function"));
  models().add(name, {std::move(factory), choices}, collection);
}

std::span<const std::string_view> model_names() { return models().names().all(); }

std::span<const std::string_view> registered_model_names() { return models().names().added(); }

std::vector<std::string_view> models_in(std::string_view collection) { return models().names().in(collection); }

std::string listed_models(std::span<const std::string_view> names) { return models().names().listed(names); }

std::optional<ModelChoices> choices_of(std::string_view model) {
  if (std::ranges::find(model_names(), model) == model_names().end()) return std::nullopt;
  return models().find(model).choices;
}

std::unique_ptr<SequenceModel> make_model(std::string_view name, const ModelSizes& sizes, Random& random) {
  std::unique_ptr<SequenceModel> model = models().find(name).make(sizes, random);
  if (model == nullptr) throw ValueError(text("make_model: the factory of '", name, "' made no model; return one"));
  return model;
}

}  // namespace retrace
