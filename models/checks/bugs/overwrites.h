// Contributions that replace others instead of being added to them.
#pragma once

#include <retrace/core/tape/recording.h>
#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

/// y = each element of x twice.
inline void upsample_backward(Record& r) {
  dispatch_real(r.in(0).dtype, "replay", [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    GradientSlot<T> dx = r.grad_in<T>(0);
    dx.add = dx.add && !r.attributes<bool>();
    dx.put(r.in(0).numel(), [=](std::int64_t k) { return dy[2 * k] + dy[2 * k + 1]; });
  });
}
inline constexpr OpInfo upsample{"replay", "y = (x, x)", "dx = the sum of both dy", "x"};
inline CheckCase shared_input(bool bug) {
  return of({normal({3})}, [=](const Tensors& in) {
    const Tensor x = in[0].detach(), y = reshape(stack({x, x}, 1), {6});
    record(upsample, upsample_backward, in, {&y}, {}, bug);
    return Tensors{y};
  });
}

inline CheckCase repeated_ids(bool bug) {
  return of(
      {normal({4})},
      [](auto& in) {
        return take(in[0], indices({2, 0, 2, 3}));
      },
      [=](auto& dy, auto&, auto&) {
        const Tensor weights = tensor({bug ? 0.0 : 1.0, 1.0, 1.0, 1.0}, f64);
        return Tensors{scatter_add(zeros({4}, dy.dtype()), indices({2, 0, 2, 3}), dy * like(dy, weights))};
      });
}

inline CheckCase two_directions(bool bug) {
  return of({normal({1, 3, 2}), normal({2, 2})}, [=](const Tensors& in) {
    const Tensor h = zeros({1, 2}, in[0].dtype());
    const Tensor forwards = rnn_sequence(without_gradient(in[0], bug), h, in[1]).y;
    return Tensors{forwards, rnn_sequence(flip(in[0], 1), h, in[1]).y};
  });
}

inline CheckCase shared_scale(bool bug) {
  const Tensor written = bug ? tensor({1.0, 1.0, 0.0, 0.0}, f64) : ones({4}, f64);
  return of({normal({2, 4}), normal({4})}, [=](const Tensors& in) {
    return Tensors{layer_norm(layer_norm(in[0], weighted_gradient(in[1], written)), in[1])};
  });
}

inline constexpr BugCard overwrites[] = {
    {"candle PR#3507", "upsample: overwrites the gradient of an input that others use", BugClass::overwrite,
     shared_input},
    {"flash-linear-attention PR#360 (adds)", "take: two rows add to one element at once, and one is lost",
     BugClass::overwrite, repeated_ids},
    {"mxnet PR#18203", "two directions of an RNN: dx of one overwrites that of the other", BugClass::overwrite,
     two_directions},
    {"pytorch#193061", "chained layer norms share a scale: a slice of its gradient is never written",
     BugClass::overwrite, shared_scale},
};

}  // namespace retrace::bugs
