// Inputs to which no gradient goes back, silently.
#pragma once

#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

inline CheckCase modified_scores(bool bug) {
  return of({normal({2, 3}), normal({4, 3}), normal({2, 4})}, [=](const Tensors& in) {
    const Tensor bias = tanh(in[2]), scores = matmul(in[0], in[1], {.transpose_b = true});
    return Tensors{softmax(scores + without_gradient(bias, bug))};
  });
}

inline CheckCase recurrent_bias(bool bug) {
  return of({normal({2, 3, 2}), normal({8, 2}), normal({8}), normal({8, 2})}, [=](const Tensors& in) {
    const Tensor zero = zeros({2, 2}, in[0].dtype());
    const Tensor projected = linear(in[0], in[1], without_gradient(in[2], bug));
    return Tensors{lstm_sequence(projected, zero, zero, in[3]).y};
  });
}

inline CheckCase fused_norm(bool bug) {
  return of({normal({2, 4}), normal({4}), normal({4})},
            [=](const Tensors& in) { return Tensors{in[0] + without_gradient(layer_norm(in[0], in[1], in[2]), bug)}; });
}

inline CheckCase rebuilt_projections(bool bug) {
  return of({normal({1, 3, 4}), normal({4, 4}), normal({4, 4}), normal({4, 4})}, [=](const Tensors& in) {
    const auto projected = [&](std::size_t k) { return without_gradient(linear(in[0], in[k]), bug); };
    return Tensors{in[0] + attention(projected(1), projected(2), projected(3), {.heads = 2})};
  });
}

inline CheckCase scale_of_features(bool bug) {
  return of({normal({2, 4}), normal({4})},
            [=](const Tensors& in) { return Tensors{rms_norm(in[0], without_gradient(in[1], bug))}; });
}

/// x with another diagonal.
inline CheckCase other_diagonal(bool bug) {
  return of({normal({3, 3}), normal({3})}, [=](const Tensors& in) {
    const Tensor outside = 1 - like(in[0], eye(3, 3, f64));
    return Tensors{without_gradient(in[0], bug) * outside + diag_embed(in[1])};
  });
}

inline constexpr BugCard lost_paths[] = {
    {"pytorch PR#163677", "attention scores: nothing goes back to a bias that is an intermediate value",
     BugClass::lost_path, modified_scores},
    {"tracel-ai/burn PR#5235", "LSTM: its bias never learns", BugClass::lost_path, recurrent_bias},
    {"candle#3011, PR#3613, #3526, #3591, PR#3612", "fused layer norm: no gradient", BugClass::lost_path, fused_norm},
    {"paiml/aprender PR#2203", "attention: helpers rebuild tensors, so projections get no gradient",
     BugClass::lost_path, rebuilt_projections},
    {"tsotchke/eshkol#229", "norm: nothing for the scale of a feature", BugClass::lost_path, scale_of_features},
    {"pytorch#182012", "diagonal_scatter: nothing for x", BugClass::lost_path, other_diagonal},
};

}  // namespace retrace::bugs
