// The gradient-check table of the modules, through time where they have one. A case's inputs are all weights of the
// module and its input; the check moves their values in place, in the module that the function holds.
#include <retrace/models/checks/module_cases.h>

#include <memory>

#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/language_model.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/rmc_model.h>
#include <retrace/nn/nn.h>

namespace retrace {
namespace {

Random& numbers() {
  static Random random;
  return random;
}
/// The case f(module, x): its inputs are the module's parameters and x.
template <class M, class F> CheckCase of(const std::shared_ptr<M>& module, const Tensor& x, F f) {
  CheckCase result{.function = {}, .inputs = {}, .holds_inputs = true};
  for (const NamedTensor& parameter : parameters(*module)) result.inputs.push_back(parameter.tensor);
  result.inputs.push_back(x);
  result.function = [module, f](const Tensors& in) { return f(*module, in.back()); };
  return result;
}
/// The case with an x of random numbers, drawn after the module's weights.
template <class M, class F>
CheckCase of(const std::shared_ptr<M>& module, const Shape& x, F f, Random& random = numbers()) {
  return of(module, random.normal(x), f);
}

constexpr std::int64_t steps = 20;  // of time

template <class M, class... Arguments> std::shared_ptr<M> make(Arguments&&... arguments) {
  return std::make_shared<M>(std::forward<Arguments>(arguments)...);
}
/// The module with all weights drawn anew, biases too: where they begin so small that gradients drown in roundings.
template <class M> std::shared_ptr<M> with_larger_weights(std::shared_ptr<M> module, Random& random = numbers()) {
  for_each_parameter(*module, [&](const Path&, const Tensor& weight) {
    copy_values(random.normal(weight.shape(), 0, 0.7, f64), weight);
  });
  return module;
}
RelationalMemoryCoreOptions core_options(MemoryGate gate, int blocks, const RelationalMemoryCoreVariant& variant = {}) {
  return {.slots = 2, .head_size = 2, .heads = 2, .key_size = 1, .blocks = blocks, .gate = gate, .variant = variant};
}
SlotMemoryOptions beside(MemoryKind kind) { return {.kind = kind, .slots = 3, .slot_size = 4, .heads = 2}; }
RmcModelOptions rmc_sizes() {
  return {.input = 3, .output = 2, .core = core_options(MemoryGate::unit, 1), .head_layers = 1, .head_size = 5};
}
AttentionModelOptions attention_sizes() {
  return {.input = 3, .output = 2, .size = 4, .heads = 2, .blocks = 2, .longest = steps};
}
LanguageModelOptions language_sizes(LanguageBody body, bool tied) {
  return {.vocabulary = 4,
          .body = body,
          .embedding = 3,
          .hidden = 4,
          .core = core_options(MemoryGate::memory, 1),
          .heads = 2,
          .blocks = 1,
          .longest = steps,
          .tied = tied};
}
/// Ids of 2 samples over all steps; the logits, and the state that is handed on.
CheckCase language_case(LanguageBody body, bool tied) {
  Random own(79);
  const Tensor ids = own.integers({2, steps}, 4);
  return of(make<LanguageModel>(language_sizes(body, tied), own), ids, [](const LanguageModel& model, const Tensor& x) {
    auto [logits, state] = model(x);
    state.parts.push_back(logits);
    return state.parts;
  });
}
/// Every choice of what a core can do without, over a few steps from the identity.
std::vector<CheckCase> cores_without_parts() {
  std::vector<CheckCase> cases;
  for (const MemoryGate gate : {MemoryGate::unit, MemoryGate::memory, MemoryGate::none})
    for (const int without : {0, 1, 2, 3, 4, 5, 6, 7}) {  // a bit for each part
      RelationalMemoryCoreOptions options = core_options(gate, 1);
      options.residual = (without & 1) == 0;
      options.layer_norm = (without & 2) == 0;
      options.mlp_layers = (without & 4) == 0 ? 2 : 0;
      Random own(82);
      cases.push_back(of(
          with_larger_weights(make<RelationalMemoryCore>(3, own, options), own), Shape{2, 3},
          [](const RelationalMemoryCore& core, const Tensor& x) {
            Tensor memory = core.initial_memory(2);
            for (int t = 0; t < 3; ++t) memory = core(memory, x).memory;
            return Tensors{memory};
          },
          own));
    }
  return cases;
}
const Shape sequence{2, steps, 3};

}  // namespace

std::vector<CheckedName> module_cases() {
  const DtypeScope scope(f64);
  Random& random = numbers();
  random = Random(77);  // the same points every time
  const CellMemoryOptions small{.slots = 3, .slot_size = 4, .heads = 2};
  const auto y_of = [](const auto& module, const Tensor& x) { return Tensors{module(x)}; };
  const auto last_answers = [](const auto& module, const Tensor& x) { return Tensors{module.answers(x, 3)}; };
  const auto sequence_of = [](const auto& module, const Tensor& x) { return Tensors{module(x).y}; };
  // The memory after some steps, from one that is no symmetric point.
  const auto over_time = [](const auto& module, const Tensor& x) {
    Random start(11);
    Tensor memory = start.normal({2, module.options.slots, module.options.slot_size}, f64).to(x.dtype());
    for (std::int64_t t = 0; t < steps; ++t) memory = module(memory, x).memory;
    return Tensors{memory};
  };
  const auto y_and_weights = [](const MultiHeadAttention& attention, const Tensor& x) {
    auto [y, weights] = attention(x);
    return Tensors{y, weights};
  };
  const auto cell_over_time = [](const CellMemory& memory, const Tensor& x) {
    Tensor m = memory.initial_memory(2);
    for (std::int64_t t = 0; t < steps; ++t) m = memory(m, x).memory;
    return Tensors{m};
  };
  CellMemoryOptions without_gate = small;
  without_gate.gate = false;
  Random of_its_own(83), with_biases(85);
  const auto from_identity = [](const RelationalMemoryCore& module, const Tensor& x) {
    Tensor memory = module.initial_memory(2);
    for (std::int64_t t = 0; t < steps; ++t) memory = module(memory, x).memory;
    return Tensors{memory};
  };
  const auto core_variant = [&](MemoryGate gate, int blocks, const RelationalMemoryCoreVariant& variant) {
    Random own(78);
    return of(make<RelationalMemoryCore>(3, own, core_options(gate, blocks, variant)), Shape{2, 3}, from_identity, own);
  };
  const Tensor rows = Random(80).normal({2, steps, 3});
  return {
      {"Linear", false, {of(make<Linear>(3, 4, random), sequence, y_of)}},
      {"LayerNorm",
       false,
       {of(make<LayerNorm>(3), sequence, y_of), of(make<LayerNorm>(Shape{3}, LayerNormOptions{.axes = 2}), rows, y_of),
        of(make<LayerNorm>(Shape{steps, 3}, LayerNormOptions{.axes = 2}), rows, y_of)}},
      {"Embedding", false, {of(make<Embedding>(6, 3, random), indices({{1, 5, 1}}), y_of)}},
      {"Rnn", false, {of(make<Rnn>(3, 4, random), sequence, sequence_of)}},
      {"Lstm", false, {of(make<Lstm>(3, 4, random), sequence, sequence_of)}},
      {"Gru", false, {of(make<Gru>(3, 4, random), sequence, sequence_of)}},
      {"MultiHeadAttention",
       false,
       {of(make<MultiHeadAttention>(4, random, MultiHeadAttentionOptions{.heads = 2}), Shape{2, 3, 4}, y_and_weights),
        of(make<MultiHeadAttention>(4, with_biases, MultiHeadAttentionOptions{.heads = 2, .bias = true}),
           Random(84).normal({2, 3, 4}), y_and_weights)}},
      {"CellMemory",
       false,
       {of(make<CellMemory>(3, random, small), Shape{2, 3}, cell_over_time),
        of(make<CellMemory>(3, of_its_own, without_gate), Shape{2, 3}, cell_over_time, of_its_own)}},
      {"RelationalMemory",
       false,
       {of(make<RelationalMemory>(3, random, RelationalMemoryOptions{.slots = 3, .slot_size = 4, .heads = 2}),
           Shape{2, 3}, over_time),
        of(make<RelationalMemory>(
               4, random,
               RelationalMemoryOptions{
                   .slots = 2, .slot_size = 4, .heads = 1, .input = MemoryInput::cross_attention, .gate = false}),
           Shape{2, 4}, over_time)}},
      {"NotebookMemory",
       false,
       {of(with_larger_weights(
               make<NotebookMemory>(random, NotebookMemoryOptions{.slots = 3, .slot_size = 4, .heads = 2})),
           Shape{2, 4}, over_time)}},
      {"RelationalMemoryCore",
       false,
       {of(make<RelationalMemoryCore>(3, random, core_options(MemoryGate::unit, 2)), Shape{2, 3}, from_identity),
        of(make<RelationalMemoryCore>(3, random, core_options(MemoryGate::memory, 1)), Shape{2, 3}, from_identity),
        of(make<RelationalMemoryCore>(3, random, core_options(MemoryGate::none, 1)), Shape{2, 3}, from_identity)}},
      {"RelationalMemoryCoreParts", false, cores_without_parts()},
      {"RelationalMemoryCoreVariant",
       false,
       {core_variant(MemoryGate::unit, 2, l0sg_variant()),
        core_variant(MemoryGate::memory, 1, l0sg_variant_with_mlp_layers()),
        core_variant(MemoryGate::unit, 2, blog_variant()), core_variant(MemoryGate::unit, 1, relgan_variant())}},
      {"RelationalRNN",
       false,
       {of(make<RelationalRNN>(3, 5, 2, random, beside(MemoryKind::cell)), sequence, sequence_of),
        of(make<RelationalRNN>(3, 4, 2, random, beside(MemoryKind::gated)), sequence, sequence_of),
        of(with_larger_weights(make<RelationalRNN>(3, 5, 2, random, beside(MemoryKind::notebook))), sequence,
           sequence_of),
        of(make<RelationalRNN>(3, 5, 2, random, beside(MemoryKind::cell)), sequence,
           [](const auto& network, const Tensor& x) { return Tensors{network.answers(x, 3).y}; })}},
      {"RmcModel",
       false,
       {of(make<RmcModel>(rmc_sizes(), random), sequence, y_of),
        of(make<RmcModel>(rmc_sizes(), random), sequence, last_answers)}},
      {"AttentionModel",
       false,
       {of(make<AttentionModel>(attention_sizes(), random), sequence, y_of),
        of(make<AttentionModel>(attention_sizes(), random), sequence, last_answers)}},
      {"LanguageModel",
       false,
       {language_case(LanguageBody::lstm, true), language_case(LanguageBody::gru, false),
        language_case(LanguageBody::rnn, true), language_case(LanguageBody::rmc, true),
        language_case(LanguageBody::attention, false)}},
  };
}

}  // namespace retrace
