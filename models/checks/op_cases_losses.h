// Losses, attention, recurrent layers and the rest.
#pragma once

#include <retrace/models/checks/op_case.h>

namespace retrace::op_checks {

// ---- losses and the rest

inline CheckCase classified(CrossEntropyOptions options) {
  return one([options](const Tensors& in) { return cross_entropy(in[1], in[0], options); },
             {indices({1, 0, 3, 1}), normal({4, 5})});
}
template <> inline Cases cases_of<Op::cross_entropy>() {
  return {classified({}), classified({.reduction = Reduction::sum}), classified({.reduction = Reduction::none}),
          classified({.ignore_index = 1}),
          one([](const Tensors& in) { return cross_entropy(in[0], in[1]); }, {normal({3, 4}), positive({3, 4})})};
}
template <> inline Cases cases_of<Op::nll>() {
  return {one([](const Tensors& in) { return nll(in[1], in[0]); }, {indices({1, 0, 3}), normal({3, 4})})};
}
inline Cases pair_losses(Tensor (*loss)(const Tensor&, const Tensor&, Reduction)) {
  Cases cases;
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    cases.push_back(
        one([=](const Tensors& in) { return loss(in[0], in[1], reduction); }, {normal({3, 4}), normal({3, 4})}));
  return cases;
}
template <> inline Cases cases_of<Op::mse>() { return pair_losses(mse); }
template <> inline Cases cases_of<Op::bce_with_logits>() { return pair_losses(bce_with_logits); }
template <> inline Cases cases_of<Op::dropout>() {
  return {one(
      [](const Tensors& in) {
        Random random(5);
        return dropout(in[0], 0.4, &random);
      },
      {normal({5, 5})})};
}
/// Both results of attention, so that gradients come through the weights, too.
inline CheckCase attends(const AttentionOptions& options, Tensors inputs) {
  return {[options](const Tensors& in) {
            auto [y, weights] = attention_with_weights(in[0], in[1], in[2], options);
            return Tensors{y, weights};
          },
          std::move(inputs)};
}
template <> inline Cases cases_of<Op::attention>() {
  const double hidden = -std::numeric_limits<double>::infinity();
  return {one([](const Tensors& in) { return attention(in[0], in[1], in[2], {.heads = 2, .causal = true}); },
              {normal({2, 3, 4}), normal({2, 3, 4}), normal({2, 3, 6})}),
          one([](const Tensors& in) { return attention(in[0], in[0], in[0], {.heads = 3}); }, {normal({2, 4, 6})}),
          one(
              [=](const Tensors& in) {
                const Tensor mask = tensor({{0, hidden, 0.5}, {hidden, hidden, hidden}}, in[0].dtype());
                return attention(in[0], in[1], in[2], {.mask = mask});
              },
              {normal({2, 4}), normal({3, 4}), normal({3, 5})})};
}
template <> inline Cases cases_of<Op::attention_with_weights>() {
  return {attends({}, {normal({2, 3, 4}), normal({2, 5, 4}), normal({2, 5, 3})}),
          attends({.heads = 2, .causal = true}, {normal({3, 2, 4}), normal({3, 5, 4}), normal({3, 5, 2})})};
}

template <> inline Cases cases_of<Op::packed_attention>() {
  return {one(
              [](const Tensors& in) {
                const Tensor mask = tensor({{0, 0.5, -1}, {-1, 0, 0}, {0.25, 1, 0}}, in[0].dtype());
                return packed_attention(in[0], {.heads = 2, .key_size = 1, .mask = mask});
              },
              {normal({2, 3, 8})}),
          one([](const Tensors& in) { return packed_attention(in[0], {.key_size = 2, .causal = true}); },
              {normal({4, 6})})};
}
template <> inline Cases cases_of<Op::packed_attention_with_weights>() {
  const auto with = [](const PackedAttentionOptions& options) {
    return [options](const Tensors& in) {
      auto [y, weights] = packed_attention_with_weights(in[0], options);
      return Tensors{y, weights};
    };
  };
  return {{with({.heads = 2, .key_size = 2, .layout = PackedLayout::by_head}), {normal({2, 3, 10})}},
          {with({.heads = 2, .key_size = 1, .queries = 2}), {normal({2, 3, 8})}},
          {with({.key_size = 2, .causal = true}), {normal({4, 6})}}};
}

template <> inline Cases cases_of<Op::split_heads>() {
  return {one([](const Tensors& in) { return split_heads(in[0], 2); }, {normal({2, 3, 4})}),
          one([](const Tensors& in) { return split_heads(in[0], 1); }, {normal({3, 2})})};
}
template <> inline Cases cases_of<Op::combine_heads>() {
  return {one([](const Tensors& in) { return combine_heads(in[0]); }, {normal({2, 2, 3, 2})}),
          one([](const Tensors& in) { return combine_heads(split_heads(in[0], 3)); }, {normal({2, 6})})};
}
/// Constants: what is checked is that a softmax with them has the right gradient, where it is zero by rule, too.
template <> inline Cases cases_of<Op::causal_mask>() {
  const auto masked = [](const Tensors& in) {
    return softmax(in[0], -1, causal_mask(in[0].dim(-2), in[0].dim(-1), in[0].dtype()));
  };
  return {one(masked, {normal({3, 3})}), one(masked, {normal({2, 3, 5})}), one(masked, {normal({4, 2})})};
}
template <> inline Cases cases_of<Op::padding_mask>() {
  return {one([](const Tensors& in) { return softmax(in[1], -1, padding_mask(in[0], 4, in[1].dtype())); },
              {indices({2, 0, 4}), normal({3, 2, 4})})};
}

/// Inputs of a recurrent op over 3 steps of 2 samples, with 2 hidden units: p, the states, U.
inline Tensors recurrent_inputs(std::int64_t gates, int states, const Shape& projected) {
  Tensors inputs{normal(projected)};
  for (int k = 0; k < states; ++k) inputs.push_back(normal({2, 2}));
  inputs.push_back(normal({2 * gates, 2}));
  return inputs;
}
template <> inline Cases cases_of<Op::lstm_sequence>() {
  const auto with_lengths = [](const Tensor& lengths) {
    return [lengths](const Tensors& in) {
      auto [y, h, c] = lstm_sequence(in[0], in[1], in[2], in[3], lengths);
      return Tensors{y, h, c};
    };
  };
  const Tensors inputs = recurrent_inputs(4, 2, {2, 3, 8});
  return {{with_lengths({}), inputs}, {with_lengths(indices({3, 1})), inputs}};
}
template <> inline Cases cases_of<Op::lstm_step>() {
  return {{[](const Tensors& in) {
             auto [h, c] = lstm_step(in[0], in[1], in[2], in[3]);
             return Tensors{h, c};
           },
           recurrent_inputs(4, 2, {2, 8})}};
}
template <> inline Cases cases_of<Op::gru_sequence>() {
  const auto with_lengths = [](const Tensor& lengths) {
    return [lengths](const Tensors& in) {
      auto [y, h] = gru_sequence(in[0], in[1], in[2], in[3], lengths);
      return Tensors{y, h};
    };
  };
  Tensors inputs = recurrent_inputs(3, 1, {2, 3, 6});
  inputs.push_back(normal({6}));
  return {{with_lengths({}), inputs}, {with_lengths(indices({0, 2})), inputs}};
}
template <> inline Cases cases_of<Op::gru_step>() {
  Tensors inputs = recurrent_inputs(3, 1, {2, 6});
  inputs.push_back(normal({6}));
  return {{[](const Tensors& in) { return Tensors{gru_step(in[0], in[1], in[2], in[3])}; }, inputs}};
}
template <> inline Cases cases_of<Op::rnn_sequence>() {
  const auto of = [](Activation activation, const Tensor& lengths) {
    return [=](const Tensors& in) {
      auto [y, h] = rnn_sequence(in[0], in[1], in[2], activation, lengths);
      return Tensors{y, h};
    };
  };
  const Tensors inputs = recurrent_inputs(1, 1, {2, 3, 2});
  return {{of(Activation::tanh, {}), inputs}, {of(Activation::relu, indices({2, 3})), inputs}};
}
template <> inline Cases cases_of<Op::rnn_step>() {
  return {{[](const Tensors& in) { return Tensors{rnn_step(in[0], in[1], in[2])}; }, recurrent_inputs(1, 1, {2, 2})}};
}

/// 3 slots of 2 units in 2 samples, with so many gates of a slot.
template <> inline Cases cases_of<Op::gated_memory>() {
  const auto gated = [](bool coupled) {
    return [coupled](const Tensors& in) {
      GatedMemoryOptions options{.coupled = coupled};
      if (in.size() > 4) options.input_bias = in[4];
      if (in.size() > 5) options.forget_bias = in[5];
      auto [next, i, f] = gated_memory(in[0], in[1], in[2], in[3], options);
      return coupled ? Tensors{next, i} : Tensors{next, i, f};
    };
  };
  const auto memories = [](std::int64_t gates, int biases) {
    Tensors inputs{normal({2, 3, 2}), normal({2, 3, 2}), normal({2, 3, gates}), normal({2, gates})};
    for (int k = 0; k < biases; ++k) inputs.push_back(normal({}));
    return inputs;
  };
  const auto of_itself = [](const Tensors& in) {
    return Tensors{gated_memory(in[0], in[0], in[0], in[1], {.coupled = true}).memory};
  };
  return {{gated(false), memories(4, 2)},
          {gated(false), memories(4, 0)},
          {gated(true), memories(2, 1)},
          {gated(false), {normal({2, 3, 2}), normal({2, 4, 2}), normal({2, 3, 4}), normal({2, 4})}},
          {of_itself, {normal({3, 2}), normal({2})}}};
}

template <> inline Cases cases_of<Op::custom_op>() {
  return {one(
      [](const Tensors& in) {
        return custom_op(
            "product", {in[0], in[1]}, [](const Tensors& x) { return x[0] * x[1]; },
            [](const Tensor& dy, const Tensors& x, const Tensor&) {
              return Tensors{dy * x[1], dy * x[0]};
            });
      },
      {normal({3, 2}), normal({3, 2})})};
}

}  // namespace retrace::op_checks
