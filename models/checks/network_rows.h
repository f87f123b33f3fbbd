// The networks of models.
#pragma once

#include <retrace/models/checks/module_row.h>
#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/language_model.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/rmc_model.h>
#include <retrace/models/networks/sequence_model.h>

namespace retrace::module_checks {

inline std::shared_ptr<RelationalRNN> relational_rnn(std::int64_t hidden, MemoryKind kind) {
  return make<RelationalRNN>(3, hidden, 2, numbers(),
                             SlotMemoryOptions{.kind = kind, .slots = 3, .slot_size = 4, .heads = 2});
}
inline constexpr auto last_answers_y = [](const RelationalRNN& network, const Tensor& x) {
  return Tensors{network.answers(x, 3).y};
};

inline std::shared_ptr<RmcModel> rmc_model() {
  return make<RmcModel>(
      RmcModelOptions{
          .input = 3, .output = 2, .core = core_options(MemoryGate::unit, 1), .head_layers = 1, .head_size = 5},
      numbers());
}

inline std::shared_ptr<AttentionModel> attention_model() {
  return make<AttentionModel>(
      AttentionModelOptions{.input = 3, .output = 2, .size = 4, .heads = 2, .blocks = 2, .longest = steps}, numbers());
}

/// Dropout draws the same masks in every call.
inline constexpr auto masked_result = [](const auto& network, const Tensor& x) {
  Random masks(5);
  return Tensors{network(x, &masks)};
};
inline constexpr auto masked_result_y = [](const RelationalRNN& network, const Tensor& x) {
  Random masks(5);
  return Tensors{network(x, &masks).y};
};

/// Learned positions, then every other kind with dropout, all rows seen and causal in turn.
inline Cases attention_models() {
  Cases cases{of(attention_model(), sequence, result), of(attention_model(), sequence, last_answers)};
  Random own(94);
  for (const RowPositions positions :
       {RowPositions::none, RowPositions::sinusoidal, RowPositions::rotary, RowPositions::alibi}) {
    const AttentionModelOptions options{.input = 3,
                                        .output = 2,
                                        .size = 4,
                                        .heads = 2,
                                        .blocks = 2,
                                        .feed_forward = 5,
                                        .longest = 5,
                                        .positions = positions,
                                        .dropout = 0.2,
                                        .causal = cases.size() % 2 == 1};
    cases.push_back(of(make<AttentionModel>(options, own), Shape{2, 5, 3}, masked_result, own));
  }
  return cases;
}

/// An AttentionModel of TransformerEncoderLayers.
inline CheckCase transformer() {
  Random own(99);
  const ModelSizes sizes{.input = 3, .hidden = 4, .output = 2, .time = 5, .form = {.layers = 2, .dropout = 0.2}};
  const std::shared_ptr<SequenceModel> model = make_model("transformer", sizes, own);
  return of(model, Shape{2, 5, 3}, masked_result, own);
}

/// Stacked layers in one and in both directions, with dropout between and after them, by name.
inline Cases recurrent_models() {
  Cases cases;
  Random own(95);
  for (const char* name : {"lstm", "gru", "rnn"})
    for (const bool bidirectional : {false, true}) {
      const ModelSizes sizes{
          .input = 3, .hidden = 4, .output = 2, .form = {.layers = 2, .dropout = 0.2, .bidirectional = bidirectional}};
      const std::shared_ptr<SequenceModel> model = make_model(name, sizes, own);
      cases.push_back(of(model, Shape{2, 5, 3}, masked_result, own));
    }
  return cases;
}

/// A model by name with dropout, and its last answers.
inline Cases model_with_dropout(std::string_view name, std::uint64_t seed, ModelForm form = {}) {
  Random own(seed);
  form.dropout = 0.2;
  const ModelSizes sizes{
      .input = 3, .hidden = 4, .output = 2, .slot_size = 4, .slots = 3, .heads = 2, .time = 5, .form = form};
  const std::shared_ptr<SequenceModel> model = with_larger_weights<SequenceModel>(make_model(name, sizes, own), own);
  return {of(model, Shape{2, 5, 3}, masked_result, own), of(model, Shape{2, 5, 3}, last_answers, own)};
}

inline CheckCase rmc_with_dropout() {
  RelationalMemoryCoreOptions core = core_options(MemoryGate::unit, 2);
  core.dropout = 0.2;
  Random own(96);
  const RmcModelOptions options{.input = 3, .output = 2, .core = core, .head_layers = 1, .head_size = 5};
  return of(make<RmcModel>(options, own), Shape{2, 5, 3}, masked_result, own);
}

inline CheckCase relational_rnn_with_dropout() {
  Random own(97);
  const SlotMemoryOptions memory{.slots = 3, .slot_size = 4, .heads = 2};
  return of(make<RelationalRNN>(3, 5, 2, own, memory, 0.2), Shape{2, 5, 3}, masked_result_y, own);
}

/// Ids of 2 samples over all steps; the logits, and the state that is handed on.
inline CheckCase language(const char* model, bool tied) {
  const ModelSizes sizes{.input = 3,
                         .hidden = 4,
                         .slot_size = 4,
                         .slots = 2,
                         .heads = 2,
                         .time = steps,
                         .form = without_missing_options({.name = model, .form = {.causal = true}}).form};
  Random own(79);
  const Tensor ids = own.integers({2, steps}, 4);
  return of(make<LanguageModel>(LanguageModelOptions{4, model, sizes, tied}, own), ids,
            [](const LanguageModel& network, const Tensor& x) {
              auto [logits, state] = network.continued(x);
              state.parts.push_back(logits);
              return state.parts;
            });
}

/// Two layers with dropout, and rotary positions for attention, over two segments.
inline CheckCase layered_language(const char* model) {
  const ModelForm form =
      without_missing_options(
          {.name = model, .form = {.layers = 2, .dropout = 0.2, .positions = RowPositions::rotary, .causal = true}})
          .form;
  const ModelSizes sizes{.input = 3, .hidden = 8, .time = steps, .form = form};
  Random own(98);
  const Tensor ids = own.integers({2, 5}, 4);
  return of(make<LanguageModel>(LanguageModelOptions{4, model, sizes}, own), ids,
            [](const LanguageModel& network, const Tensor& x) {
              Random masks(5);
              const Continued first = network.continued(slice(x, {all, range(0, 2)}), {}, &masks);
              return Tensors{first.answers, network.continued(slice(x, {all, range(2)}), first.state, &masks).answers};
            });
}

// clang-format off
inline constexpr NetworkChecks networks[] = {
    {"RelationalRNN", [] { return Cases{
        of(relational_rnn(5, MemoryKind::cell), sequence, result_y),
        of(relational_rnn(4, MemoryKind::relational), sequence, result_y),
        of(with_larger_weights(relational_rnn(5, MemoryKind::notebook)), sequence, result_y),
        of(relational_rnn(5, MemoryKind::cell), sequence, last_answers_y),
        relational_rnn_with_dropout()}; }},
    {"RmcModel", [] { return Cases{
        of(rmc_model(), sequence, result),
        of(rmc_model(), sequence, last_answers),
        rmc_with_dropout()}; }},
    {"AttentionModel", attention_models},
    {"TransformerModel", [] { return Cases{transformer()}; }},
    {"RecurrentModel", recurrent_models},
    {"RelationalMemoryModel", [] { return model_with_dropout("relational-memory", 106); }},
    {"LanguageModel", [] { return Cases{
        language("lstm", true),
        language("gru", false),
        language("rnn", true),
        language("rmc", true),
        language("attention", false),
        layered_language("lstm"),
        layered_language("gru"),
        layered_language("attention")}; }},
};
// clang-format on

}  // namespace retrace::module_checks
