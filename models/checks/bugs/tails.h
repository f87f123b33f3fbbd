// Elements after the last whole block of four.
#pragma once

#include <limits>

#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

/// [6, 1]: 1 in the block of four, `rest` after it.
inline Tensor past_the_block(double rest) { return tensor({{1.0}, {1.0}, {1.0}, {1.0}, {rest}, {rest}}, f64); }

inline CheckCase last_rows(bool bug) {
  return of({normal({6, 3})},
            [=](const Tensors& in) { return Tensors{softmax(weighted_gradient(in[0], past_the_block(bug ? 0 : 1)))}; });
}

inline CheckCase last_keys(bool bug) {
  const Tensor kept = past_the_block(bug ? 0 : 1);
  return of({normal({1, 6, 2}), normal({1, 6, 2}), normal({1, 6, 2})}, [=](const Tensors& in) {
    return Tensors{attention(in[0], weighted_gradient(in[1], kept), weighted_gradient(in[2], kept))};
  });
}

inline CheckCase masked_tail(bool bug) {
  const Tensor zero_by_zero = past_the_block(bug ? std::numeric_limits<double>::quiet_NaN() : 1);
  return of({normal({1, 6, 2}), normal({1, 6, 2}), normal({1, 6, 2})}, [=](const Tensors& in) {
    return Tensors{attention(weighted_gradient(in[0], zero_by_zero), in[1], in[2], {.causal = true})};
  });
}

inline CheckCase padding(bool bug) {
  const Tensor present = tensor({{1.0, 1.0, 1.0, 1.0}, {1.0, 1.0, 0.0, 0.0}}, f64);
  return of(
      {normal({2, 4})}, [=](auto& in) { return softplus(in[0]) * like(in[0], present); },
      [=](auto& dy, auto& in, auto&) {
        return Tensors{dy * sigmoid(in[0]) * (bug ? ones_like(in[0]) : like(in[0], present))};
      });
}

inline constexpr BugCard tails[] = {
    {"attorch#18", "softmax: the rows after the last block get no gradient", BugClass::tail, last_rows},
    {"FlagGems PR#3607", "attention: keys after the last block get no gradient", BugClass::tail, last_keys},
    {"pytorch#153799", "attention: NaN where a length is no multiple of the block", BugClass::tail, masked_tail},
    {"state-spaces/mamba#368", "softplus of padding is not 0, and its gradient neither", BugClass::tail, padding},
};

}  // namespace retrace::bugs
