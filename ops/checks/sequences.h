// Attention, recurrent layers, memory, and ops of the user's own.
#pragma once

#include <retrace/ops/checks/op_row.h>

namespace retrace::op_checks {

// ---- attention

/// With a mask in the dtype of the scores.
inline CheckCase attends(Tensors qkv, const AttentionOptions& options = {}) {
  const auto attend = [=](auto& q, auto& k, auto& v) {
    AttentionOptions here = options;
    if (here.mask.defined()) here.mask = to(here.mask, q.dtype());
    return attention(q, k, v, here);
  };
  return one(attend, std::move(qkv));
}
inline CheckCase attends_with_weights(Tensors qkv, const AttentionOptions& options = {}) {
  return one([=](auto& q, auto& k, auto& v) { return attention_with_weights(q, k, v, options); }, std::move(qkv));
}
/// With an additive mask that wants a gradient, the last of the inputs.
inline CheckCase attends_with_bias(Tensors qkv_and_mask, const AttentionOptions& options = {}) {
  const auto attend = [=](auto& q, auto& k, auto& v, auto& mask) {
    AttentionOptions here = options;
    here.mask = mask;
    return attention(q, k, v, here);
  };
  return one(attend, std::move(qkv_and_mask));
}
inline CheckCase packed(const Shape& qkv, const PackedAttentionOptions& options) {
  return one([=](auto& x) { return packed_attention(x, options); }, {normal(qkv)});
}
inline CheckCase packed_with_weights(const Shape& qkv, const PackedAttentionOptions& options) {
  return one([=](auto& x) { return packed_attention_with_weights(x, options); }, {normal(qkv)});
}

inline Tensor masked_packed_attention(const Tensor& x) {
  const Tensor mask = tensor({{0, 0.5, -1}, {-1, 0, 0}, {0.25, 1, 0}}, x.dtype());
  return packed_attention(x, {.heads = 2, .key_size = 1, .mask = mask});
}

// Masks are constants: the check is that a softmax with them has the right gradient, which is 0 where they hide x.
inline Tensor causal_softmax(const Tensor& x) { return softmax(x, -1, causal_mask(x.dim(-2), x.dim(-1), x.dtype())); }
inline Tensor padded_softmax(const Tensor& lengths, const Tensor& x) {
  return softmax(x, -1, padding_mask(lengths, 4, x.dtype()));
}

// ---- recurrent layers

/// 2 samples, with 2 hidden units: p, the states, U.
inline Tensors recurrent(std::int64_t gates, int states, const Shape& projected) {
  Tensors inputs{normal(projected)};
  for (int k = 0; k < states; ++k) inputs.push_back(normal({2, 2}));
  inputs.push_back(normal({2 * gates, 2}));
  return inputs;
}
inline Tensors with_bias(Tensors inputs, const Shape& shape) {
  inputs.push_back(normal(shape));
  return inputs;
}

/// One point, with and without lengths.
inline Cases lstm_sequences(const Tensor& lengths) {
  const Tensors inputs = recurrent(4, 2, {2, 3, 8});
  return {one([](auto& p, auto& h, auto& c, auto& u) { return lstm_sequence(p, h, c, u); }, inputs),
          one([=](auto& p, auto& h, auto& c, auto& u) { return lstm_sequence(p, h, c, u, lengths); }, inputs)};
}
inline Cases gru_sequences(const Tensor& lengths) {
  const Tensors inputs = with_bias(recurrent(3, 1, {2, 3, 6}), {6});
  return {one([](auto& p, auto& h, auto& u, auto& b) { return gru_sequence(p, h, u, b); }, inputs),
          one([=](auto& p, auto& h, auto& u, auto& b) { return gru_sequence(p, h, u, b, lengths); }, inputs)};
}
inline Cases rnn_sequences(const Tensor& lengths) {
  const Tensors inputs = recurrent(1, 1, {2, 3, 2});
  return {one([](auto& p, auto& h, auto& u) { return rnn_sequence(p, h, u); }, inputs),
          one([=](auto& p, auto& h, auto& u) { return rnn_sequence(p, h, u, Activation::relu, lengths); }, inputs)};
}

// ---- memory

/// 3 slots of 2 units in 2 samples, with this number of gates per slot.
inline Tensors slots(std::int64_t gates) {
  return {normal({2, 3, 2}), normal({2, 3, 2}), normal({2, 3, gates}), normal({2, gates})};
}
inline Cases memories() {
  const auto separate = [](auto& m, auto& c, auto& p, auto& q) { return gated_memory(m, c, p, q); };
  const auto biased = [](auto& m, auto& c, auto& p, auto& q, auto& b_i, auto& b_f) {
    return gated_memory(m, c, p, q, {.input_bias = b_i, .forget_bias = b_f});
  };
  const auto coupled = [](auto& m, auto& c, auto& p, auto& q, auto& b) {
    return gated_memory(m, c, p, q, {.input_bias = b, .coupled = true});
  };
  const auto of_itself = [](auto& m, auto& q) { return gated_memory(m, m, m, q, {.coupled = true}).memory; };
  return {one(biased, with_bias(with_bias(slots(4), {}), {})), one(separate, slots(4)),
          one(coupled, with_bias(slots(2), {})),
          one(separate, {normal({2, 3, 2}), normal({2, 4, 2}), normal({2, 3, 4}), normal({2, 4})}),
          one(of_itself, {normal({3, 2}), normal({2})})};
}

inline Tensor product_of_own(const Tensor& a, const Tensor& b) {
  return custom_op(
      "product", {a, b}, [](const Tensors& x) { return x[0] * x[1]; },
      [](const Tensor& dy, const Tensors& x, const Tensor&) {
        return Tensors{dy * x[1], dy * x[0]};
      });
}

inline Tensor observed(const Tensor& x) {
  return on_gradient(x, [](const Tensor&) { return Tensor(); });
}

// clang-format off
inline constexpr OpChecks sequences[] = {
    {"attention", [] { return Cases{
        attends({normal({2, 3, 4}), normal({2, 3, 4}), normal({2, 3, 6})}, {.heads = 2, .causal = true}),
        one([](auto& x) { return attention(x, x, x, {.heads = 3}); }, {normal({2, 4, 6})}),
        attends({normal({2, 3, 4}), normal({2, 5, 4}), normal({2, 5, 2})}),
        attends({normal({2, 3, 4}), normal({2, 5, 4}), normal({2, 5, 2})},
                {.heads = 2, .causal = true, .mask = tensor({{0.5, 0.0, -1.0, 0.0, -0.25}}, f64)}),
        attends({normal({2, 4}), normal({3, 4}), normal({3, 5})},  // the second query sees nothing
                {.mask = tensor({{0, -infinity, 0.5}, {-infinity, -infinity, -infinity}}, f64)}),
        attends({normal({2, 2}), normal({10, 2}), normal({10, 2})}, {.causal = true}),  // beyond a vector's keys
        attends({normal({2, 3, 8}), normal({2, 5, 4}), normal({2, 5, 6})},  // two heads of q for each of k and v
                {.heads = 4, .causal = true, .scale = 0.3, .key_heads = 2}),
        attends({normal({3, 6}), normal({4, 2}), normal({4, 1})}, {.heads = 3, .key_heads = 1}),
        attends({normal({3, 2}), normal({5, 2}), normal({5, 2})},
                {.causal = true, .scale = -0.7, .corner = CausalCorner::upper_left}),
        attends_with_bias({normal({2, 3, 4}), normal({2, 5, 4}), normal({2, 5, 2}), normal({2, 3, 5})},
                          {.heads = 2, .causal = true}),
        attends_with_bias({normal({2, 3, 4}), normal({2, 5, 2}), normal({2, 5, 2}), normal({2, 1, 1, 5})},
                          {.heads = 2, .scale = 2, .key_heads = 1}),
        attends_with_bias({normal({4, 2}), normal({3, 2}), normal({3, 2}), normal({3})},
                          {.causal = true, .corner = CausalCorner::upper_left})}; }},
    {"attention_with_weights", [] { return Cases{
        attends_with_weights({normal({2, 3, 4}), normal({2, 5, 4}), normal({2, 5, 3})}),
        attends_with_weights({normal({3, 2, 4}), normal({3, 5, 4}), normal({3, 5, 2})},
                             {.heads = 2, .causal = true})}; }},
    {"split_heads", [] { return Cases{
        one([](auto& x) { return split_heads(x, 2); }, {normal({2, 3, 4})}),
        one([](auto& x) { return split_heads(x, 1); }, {normal({3, 2})})}; }},
    {"combine_heads", [] { return Cases{
        one(combine_heads, {normal({2, 2, 3, 2})}),
        one([](auto& x) { return combine_heads(split_heads(x, 3)); }, {normal({2, 6})})}; }},
    {"causal_mask", [] { return Cases{
        one(causal_softmax, {normal({3, 3})}),
        one(causal_softmax, {normal({2, 3, 5})}),
        one(causal_softmax, {normal({4, 2})})}; }},
    {"padding_mask", [] { return Cases{one(padded_softmax, {indices({2, 0, 4}), normal({3, 1, 2, 4})})}; }},
    {"rotary", [] { return Cases{
        one([](auto& x) { return rotary(x, {.heads = 2, .first = 3}); }, {normal({2, 3, 8})}),
        one([](auto& x) { return rotary(x, {.base = 5, .pairs = RotaryPairs::halves}); }, {normal({4, 6})}),
        one([](auto& x) { return rotary(x, {.heads = 2, .size = 2, .positions = indices({{0, 7, 3}, {2, 2, 1}})}); },
            {normal({2, 3, 8})}),
        one([c = normal({5, 2}), s = normal({5, 2})](auto& x) {
              return rotary(x, {.first = 1, .pairs = RotaryPairs::halves, .positions = indices({3, 0, 1}),
                                .cosines = c, .sines = s}); },
            {normal({2, 3, 4})})}; }},
    {"packed_attention", [] { return Cases{
        one(masked_packed_attention, {normal({2, 3, 8})}),
        packed({4, 6}, {.key_size = 2, .causal = true})}; }},
    {"packed_attention_with_weights", [] { return Cases{
        packed_with_weights({2, 3, 10}, {.heads = 2, .key_size = 2, .layout = PackedLayout::by_head}),
        packed_with_weights({2, 3, 8}, {.heads = 2, .key_size = 1, .queries = 2}),
        packed_with_weights({4, 6}, {.key_size = 2, .causal = true})}; }},
    {"lstm_sequence", [] { return lstm_sequences(indices({3, 1})); }},
    {"lstm_step", [] { return Cases{one(lstm_step, recurrent(4, 2, {2, 8}))}; }},
    {"gru_sequence", [] { return gru_sequences(indices({0, 2})); }},
    {"gru_step", [] {
        const Tensors inputs = with_bias(recurrent(3, 1, {2, 6}), {6});
        return Cases{
            one([](auto& p, auto& h, auto& u, auto& b) { return gru_step(p, h, u, b); }, inputs),
            one([](auto& p, auto& h, auto& u, auto& b) {
              return gru_step(p, h, u, b, GruReset::before_product);
            }, inputs)}; }},
    {"rnn_sequence", [] { return rnn_sequences(indices({2, 3})); }},
    {"rnn_step", [] { return Cases{
        one([](auto& p, auto& h, auto& u) { return rnn_step(p, h, u); }, recurrent(1, 1, {2, 2}))}; }},
    {"gated_memory", memories},
    {"custom_op", [] { return Cases{one(product_of_own, {normal({3, 2}), normal({3, 2})})}; }},
    {"on_gradient", [] { return Cases{one(observed, {normal({3, 2})})}; }},
};
// clang-format on

}  // namespace retrace::op_checks
