// The modules of nn, through time where they have one.
#pragma once

#include <retrace/models/checks/module_row.h>

namespace retrace::module_checks {

inline CheckCase normalised(const Shape& over) {
  return of(make<LayerNorm>(over, LayerNormOptions{.axes = 2}), Random(80).normal({2, steps, 3}), result);
}

/// A recurrent module of one cell, one of two bidirectional layers over samples of different lengths, and the same
/// without biases.
template <class M> Cases recurrent() {
  const auto of_lengths = [](const M& module, const Tensor& x) { return Tensors{module(x, {}, indices({3, 5})).y}; };
  Random own(90);
  const auto stacked = make<M>(3, 2, own, RecurrentOptions{.layers = 2, .bidirectional = true});
  const auto bare = make<M>(3, 2, own, RecurrentOptions{.layers = 2, .bidirectional = true, .bias = false});
  return {of(make<M>(3, 4, numbers()), sequence, result_y), of(stacked, Shape{2, 5, 3}, of_lengths, own),
          of(bare, Shape{2, 5, 3}, of_lengths, own)};
}

inline Cases self_attention() {
  const auto y_and_weights = [](const MultiHeadAttention& attention, const Tensor& x) {
    auto [y, weights] = attention(x);
    return Tensors{y, weights};
  };
  Random own(85);
  const auto plain = make<MultiHeadAttention>(4, numbers(), MultiHeadAttentionOptions{.heads = 2});
  const auto biased = make<MultiHeadAttention>(4, own, MultiHeadAttentionOptions{.heads = 2, .bias = true});
  return {of(plain, Shape{2, 3, 4}, y_and_weights), of(biased, Random(84).normal({2, 3, 4}), y_and_weights)};
}

/// Every kind of position, with dropout, lengths and other sizes of keys and values, and heads that share a key.
inline Cases attention_forms() {
  Cases cases;
  Random own(91);
  for (const AttentionPositions positions :
       {AttentionPositions::none, AttentionPositions::rotary, AttentionPositions::alibi}) {
    const MultiHeadAttentionOptions form{
        .heads = 2, .bias = true, .value_size = 3, .dropout = 0.3, .positions = positions};
    const auto masked = [](const MultiHeadAttention& attention, const Tensor& x) {
      Random masks(5);
      const Tensor v = slice(x, {all, all, range(0, 3)});
      return Tensors{attention(x, x, v, {.causal = true, .lengths = indices({2, 3}), .random = &masks}).y};
    };
    cases.push_back(of(make<MultiHeadAttention>(4, own, form), Shape{2, 3, 4}, masked, own));
  }
  const auto shared = make<MultiHeadAttention>(8, own, MultiHeadAttentionOptions{.heads = 4, .key_heads = 2});
  cases.push_back(of(shared, Shape{2, 3, 8}, result_y, own));
  return cases;
}

inline Cases encoders() {
  Cases cases;
  Random own(92);
  for (const FeedForward activation : {FeedForward::gelu, FeedForward::swiglu}) {
    const bool norm_first = activation == FeedForward::swiglu;
    const TransformerLayerOptions form{.heads = 2,
                                       .feed_forward = 3,
                                       .activation = activation,
                                       .dropout = 0.2,
                                       .norm_first = norm_first,
                                       .bias = !norm_first};
    const TransformerOptions options{.layers = 2, .layer = form, .final_norm = norm_first};
    const auto encode = [](const TransformerEncoder& encoder, const Tensor& x) {
      Random masks(5);
      return Tensors{encoder(x, {.lengths = indices({2, 3}), .random = &masks})};
    };
    cases.push_back(of(make<TransformerEncoder>(4, own, options), Shape{2, 3, 4}, encode, own));
  }
  return cases;
}

/// x is both what is decoded and, backwards, the memory.
inline Cases decoders() {
  Random own(93);
  const TransformerLayerOptions form{.heads = 2, .feed_forward = 3, .activation = FeedForward::swiglu, .dropout = 0.2};
  const TransformerOptions options{.layers = 2, .layer = form, .final_norm = true};
  const auto decode = [](const TransformerDecoder& decoder, const Tensor& x) {
    Random masks(5);
    return Tensors{decoder(x, flip(x, 1), {.memory_lengths = indices({2, 3}), .random = &masks})};
  };
  return {of(make<TransformerDecoder>(4, own, options), Shape{2, 3, 4}, decode, own)};
}

/// A case whose module draws its dropout from the same generator in every call.
template <class M> CheckCase dropping(const std::shared_ptr<M>& module) {
  const auto drop = [](const M& m, const Tensor& x) {
    Random masks(5);
    return Tensors{m(x, &masks)};
  };
  return of(module, Random(94).normal(sequence), drop);
}

inline CheckCase perceptron() {
  Random own(95);
  const MlpOptions options{.activation = Activation::gelu, .dropout = 0.3};
  return dropping(make<Mlp>(std::vector<std::int64_t>{3, 5, 2}, own, options));
}

inline CheckCase parts_in_order() {
  Random own(96);
  Sequential parts(Linear(3, 4, own), silu, Dropout(0.3), Gru(4, 3, own), Linear(3, 2, own));
  return dropping(std::make_shared<decltype(parts)>(std::move(parts)));
}

inline CheckCase cell_memory(bool gate, Random& random) {
  const CellMemoryOptions options{.slots = 3, .slot_size = 4, .heads = 2, .gate = gate};
  return of(make<CellMemory>(3, random, options), Shape{2, 3}, from_initial_memory, random);
}

inline Cases relational_memories() {
  const RelationalMemoryOptions gated{.slots = 3, .slot_size = 4, .heads = 2};
  const RelationalMemoryOptions cross_attending{
      .slots = 2, .slot_size = 4, .heads = 1, .input = MemoryInput::cross_attention, .gate = false};
  return {of(make<RelationalMemory>(3, numbers(), gated), Shape{2, 3}, from_random_memory),
          of(make<RelationalMemory>(4, numbers(), cross_attending), Shape{2, 4}, from_random_memory)};
}

inline Cases notebook() {
  const auto module = make<NotebookMemory>(numbers(), NotebookMemoryOptions{.slots = 3, .slot_size = 4, .heads = 2});
  return {of(with_larger_weights(module), Shape{2, 4}, from_random_memory)};
}

inline CheckCase core(MemoryGate gate, int blocks) {
  return of(make<RelationalMemoryCore>(3, numbers(), core_options(gate, blocks)), Shape{2, 3}, from_initial_memory);
}
inline CheckCase core_variant(MemoryGate gate, int blocks, const RelationalMemoryCoreVariant& variant) {
  Random own(78);
  const auto module = make<RelationalMemoryCore>(3, own, core_options(gate, blocks, variant));
  return of(module, Shape{2, 3}, from_initial_memory, own);
}

inline CheckCase core_without(MemoryGate gate, bool residual, bool layer_norm, bool mlp) {
  RelationalMemoryCoreOptions options = core_options(gate, 1);
  if (residual) options.residual = false;
  if (layer_norm) options.layer_norm = false;
  if (mlp) options.mlp_layers = 0;
  const auto a_few_steps = [](const RelationalMemoryCore& module, const Tensor& x) {
    return memory_after(3, module, module.initial_memory(2), x);
  };
  Random own(82);
  return of(with_larger_weights(make<RelationalMemoryCore>(3, own, options), own), Shape{2, 3}, a_few_steps, own);
}
/// Dropout draws the same masks in every call; one head, and two.
inline CheckCase core_with_dropout(int heads) {
  RelationalMemoryCoreOptions options = core_options(MemoryGate::unit, 2);
  options.heads = heads;
  options.dropout = 0.3;
  const auto masked = [](const RelationalMemoryCore& module, const Tensor& x) {
    Random masks(5);
    return Tensors{module(module(module.initial_memory(2), x, &masks).memory, x, &masks).memory};
  };
  Random own(93);
  return of(make<RelationalMemoryCore>(3, own, options), Shape{2, 3}, masked, own);
}

/// A module that reads a sequence and hands its state on: y, and y of samples of different lengths in a second call
/// that goes on with the state of the first.
template <class M> Cases with_state(const std::vector<std::shared_ptr<M>>& modules, Random& random) {
  const auto in_two_calls = [](const M& module, const Tensor& x) {
    const auto first = module(x);
    const auto second = module(x, first.state, indices({2, 5}));
    return Tensors{slice(second.y, {all, range(0, 2)}), module(x, second.state).y};
  };
  Cases cases;
  for (const std::shared_ptr<M>& module : modules) {
    cases.push_back(of(module, sequence, result_y, random));
    cases.push_back(of(module, Shape{2, 5, 3}, in_two_calls, random));
  }
  return cases;
}

inline Cases delta_nets() {
  Random own(100);
  return with_state<DeltaNet>({make<DeltaNet>(3, own, DeltaNetOptions{.heads = 2, .head_size = 3}),
                               make<DeltaNet>(3, own, DeltaNetOptions{.heads = 1, .head_size = 2, .largest_step = 2})},
                              own);
}

inline Cases mlstms() {
  Random own(101);
  const MlstmOptions exponential{.heads = 1,
                                 .head_size = 2,
                                 .forget_gate = MlstmForgetGate::exp,
                                 .least_forget_bias = -0.1,
                                 .most_forget_bias = -0.1};
  return with_state<Mlstm>(
      {make<Mlstm>(3, own, MlstmOptions{.heads = 2, .head_size = 3}), make<Mlstm>(3, own, exponential)}, own);
}

inline Cases soft_memory_rnns() {
  Random own(103);
  const SoftMemoryRnnOptions stacks{.memories = 2, .cells = 4, .cell_size = 2};
  const SoftMemoryRnnOptions tape{.kind = SoftMemoryKind::tape, .cells = 5, .cell_size = 3, .jump = 2};
  return with_state<SoftMemoryRnn>({make<SoftMemoryRnn>(3, 4, own, stacks), make<SoftMemoryRnn>(3, 4, own, tape)}, own);
}

inline Cases ntms() {
  Random own(110);
  const auto larger = [&](const NtmOptions& options) {
    return with_larger_weights(make<Ntm>(3, 4, own, options), own);
  };
  return with_state<Ntm>({larger({.slots = 5, .slot_size = 3, .read_heads = 2}), larger({.slots = 2, .slot_size = 1})},
                         own);
}

inline Cases dncs() {
  Random own(111);
  const auto larger = [&](const DncOptions& options) {
    return with_larger_weights(make<Dnc>(3, 4, own, options), own);
  };
  return with_state<Dnc>(
      {larger({.slots = 4, .slot_size = 3, .read_heads = 2}), larger({.slots = 2, .slot_size = 1, .read_heads = 1})},
      own);
}

/// Every choice of what a core can do without.
inline Cases cores_without_parts() {
  Cases cases;
  for (const MemoryGate gate : {MemoryGate::unit, MemoryGate::memory, MemoryGate::none})
    for (const bool mlp : {false, true})
      for (const bool layer_norm : {false, true})
        for (const bool residual : {false, true}) cases.push_back(core_without(gate, residual, layer_norm, mlp));
  return cases;
}

// clang-format off
inline constexpr ModuleChecks modules[] = {
    {"Linear", [] { return Cases{of(make<Linear>(3, 4, numbers()), sequence, result)}; }},
    {"LayerNorm", [] { return Cases{
        of(make<LayerNorm>(3), sequence, result),
        normalised({3}),
        normalised({steps, 3})}; }},
    {"Embedding", [] { return Cases{of(make<Embedding>(6, 3, numbers()), indices({{1, 5, 1}}), result)}; }},
    {"RmsNorm", [] { return Cases{of(make<RmsNorm>(3), Random(97).normal(sequence), result)}; }},
    {"Dropout", [] { return Cases{dropping(make<Dropout>(0.3))}; }},
    {"Mlp", [] { return Cases{perceptron()}; }},
    {"Sequential", [] { return Cases{parts_in_order()}; }},
    {"LearnedPositions", [] {
        Random own(98);
        return Cases{of(make<LearnedPositions>(steps, 3, own), sequence, result, own)}; }},
    {"SinusoidalPositions", [] {
        return Cases{of(make<SinusoidalPositions>(), Random(99).normal(sequence), result)}; }},
    {"Rnn", recurrent<Rnn>},
    {"Lstm", recurrent<Lstm>},
    {"Gru", recurrent<Gru>},
    {"MultiHeadAttention", self_attention},
    {"MultiHeadAttentionForms", attention_forms},
    {"TransformerEncoder", encoders},
    {"TransformerDecoder", decoders},
    {"CellMemory", [] {
        Random own(83);
        return Cases{cell_memory(true, numbers()), cell_memory(false, own)}; }},
    {"RelationalMemory", relational_memories},
    {"NotebookMemory", notebook},
    {"RelationalMemoryCore", [] { return Cases{
        core(MemoryGate::unit, 2),
        core(MemoryGate::memory, 1),
        core(MemoryGate::none, 1),
        core_with_dropout(1),
        core_with_dropout(2)}; }},
    {"RelationalMemoryCoreParts", cores_without_parts},
    {"RelationalMemoryCoreVariant", [] { return Cases{
        core_variant(MemoryGate::unit, 2, l0sg_variant()),
        core_variant(MemoryGate::memory, 1, l0sg_variant()),
        core_variant(MemoryGate::unit, 2, blog_variant()),
        core_variant(MemoryGate::unit, 1, relgan_variant())}; }},
    {"DeltaNet", delta_nets},
    {"Mlstm", mlstms},
    {"SoftMemoryRnn", soft_memory_rnns},
    {"ShortConvolution", [] {
        Random own(109);
        return Cases{of(with_larger_weights(make<ShortConvolution>(3, own), own), Shape{2, 6, 3}, result, own)}; }},
    {"Ntm", ntms},
    {"Dnc", dncs},
};
// clang-format on

}  // namespace retrace::module_checks
