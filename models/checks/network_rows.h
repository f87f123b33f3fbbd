// The networks of models.
#pragma once

#include <retrace/models/checks/module_row.h>
#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/language_model.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/rmc_model.h>

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

/// Ids of 2 samples over all steps; the logits, and the state that is handed on.
inline CheckCase language(LanguageBody body, bool tied) {
  const LanguageModelOptions options{.vocabulary = 4,
                                     .body = body,
                                     .embedding = 3,
                                     .hidden = 4,
                                     .core = core_options(MemoryGate::memory, 1),
                                     .heads = 2,
                                     .blocks = 1,
                                     .longest = steps,
                                     .tied = tied};
  Random own(79);
  const Tensor ids = own.integers({2, steps}, 4);
  return of(make<LanguageModel>(options, own), ids, [](const LanguageModel& model, const Tensor& x) {
    auto [logits, state] = model(x);
    state.parts.push_back(logits);
    return state.parts;
  });
}

// clang-format off
inline constexpr NetworkChecks networks[] = {
    {"RelationalRNN", [] { return Cases{
        of(relational_rnn(5, MemoryKind::cell), sequence, result_y),
        of(relational_rnn(4, MemoryKind::gated), sequence, result_y),
        of(with_larger_weights(relational_rnn(5, MemoryKind::notebook)), sequence, result_y),
        of(relational_rnn(5, MemoryKind::cell), sequence, last_answers_y)}; }},
    {"RmcModel", [] { return Cases{
        of(rmc_model(), sequence, result),
        of(rmc_model(), sequence, last_answers)}; }},
    {"AttentionModel", [] { return Cases{
        of(attention_model(), sequence, result),
        of(attention_model(), sequence, last_answers)}; }},
    {"LanguageModel", [] { return Cases{
        language(LanguageBody::lstm, true),
        language(LanguageBody::gru, false),
        language(LanguageBody::rnn, true),
        language(LanguageBody::rmc, true),
        language(LanguageBody::attention, false)}; }},
};
// clang-format on

}  // namespace retrace::module_checks
