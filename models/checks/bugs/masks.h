// Masks and heads that the backward takes for others, masks that it draws anew, and forwards that it computes again.
#pragma once

#include <memory>

#include <retrace/core/checks/derivatives.h>
#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

/// y = f(inputs) with the backward of `other`, as of a kernel that computes its forward again and gets another one.
template <class F, class G> CheckCase recomputed(const Tensors& inputs, F f, G other) {
  return of(inputs, f, [=](auto& dy, auto& in, auto&) { return vjp(TensorsFunction(other), in, dy); });
}

// ---- heads

inline CheckCase grouped_heads(bool bug) {  // four heads of queries, two of keys: [heads, rows, features]
  const auto scores = [](const Tensor& heads) {
    return [=](const Tensors& in) { return matmul(in[0], take(in[1], heads), {.transpose_b = true}); };
  };
  return recomputed({normal({4, 2, 3}), normal({2, 2, 3})}, scores(indices({0, 0, 1, 1})),
                    scores(bug ? indices({0, 1, 0, 1}) : indices({0, 0, 1, 1})));
}

// ---- masks

/// The attention of two queries to four keys through an additive mask.
inline auto attending(const Tensor& mask) {
  return [=](const Tensors& in) {
    return matmul(softmax(matmul(in[0], in[1], {.transpose_b = true}), -1, like(in[0], mask)), in[2]);
  };
}
inline Tensors queries_keys_values() { return {normal({2, 3}), normal({4, 3}), normal({4, 3})}; }
inline Tensor nothing_masked() { return zeros({2, 4}, f64); }

inline CheckCase always_causal(bool bug) {
  return recomputed(queries_keys_values(), attending(nothing_masked()),
                    attending(bug ? causal_mask(2, 4, f64) : nothing_masked()));
}
inline CheckCase rectangular_mask(bool bug) {
  const Tensor late = causal_mask(3, 4, f64);  // its last two rows, one key later
  return recomputed(queries_keys_values(), attending(slice(late, {range(0, 2)})),
                    attending(slice(late, {bug ? range(1, 3) : range(0, 2)})));
}
inline CheckCase never_causal(bool bug) {
  return recomputed(queries_keys_values(), attending(causal_mask(2, 4, f64)),
                    attending(bug ? nothing_masked() : causal_mask(2, 4, f64)));
}

inline CheckCase dropped_softmax(bool bug) {
  const Tensor mask = tensor({{2.0, 0.0, 2.0, 2.0}, {0.0, 2.0, 0.0, 2.0}}, f64);
  return of(
      {normal({2, 4})}, [=](auto& in) { return softmax(in[0]) * like(in[0], mask); },
      [=](auto& dy, auto& in, auto& y) {
        const Tensor p = bug ? y : softmax(in[0]), dp = dy * like(dy, mask);
        return Tensors{p * (dp - sum_last(dp * p))};
      });
}

/// h <- m_t h + (1 - m_t) tanh(h + x_t).
inline auto zoneout(const Tensor& masks) {
  return [=](const Tensors& in) {
    Tensor h = zeros({3}, in[0].dtype());
    for (int t = 0; t < 3; ++t) {
      const Tensor m = like(h, masks[t]);
      h = m * h + (1 - m) * tanh(h + in[0][t]);
    }
    return h;
  };
}
inline CheckCase first_mask(bool bug) {
  const Tensor masks = tensor({{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, f64);
  return recomputed({normal({3, 3})}, zoneout(masks), zoneout(bug ? stack({masks[0], masks[0], masks[0]}) : masks));
}

inline constexpr BugCard masks[] = {
    {"XunhaoLai/native-sparse-attention#27", "grouped queries: the head of a key is divided by the wrong count",
     BugClass::head_map, grouped_heads},
    {"triton#5660", "attention without a mask: the backward is of a causal one", BugClass::mask, always_causal},
    {"nntrainer#4333", "causal attention: a mask for rectangular scores lets a future key in", BugClass::mask,
     rectangular_mask},
    {"keras#23038", "causal attention: the mask is dropped on another path", BugClass::mask, never_causal},
    {"aws-neuron/nki-samples#81", "attention dropout: the backward takes the softmax after it", BugClass::mask,
     dropped_softmax},
    {"lmnt-com/haste#43", "zoneout: the mask of the first step is taken for all", BugClass::mask, first_mask},
};

// ---- random numbers, drawn again

/// x tanh(m x) with a mask m of `random`, as it is when the function is called.
inline auto dropping(std::function<Random()> random) {
  return [=](const Tensors& in) {
    Random drawn = random();
    return in[0] * tanh(dropout(in[0], 0.5, &drawn));
  };
}
inline Random same() { return Random(5); }
/// Another generator in each call.
inline std::function<Random()> going_on() {
  return [count = std::make_shared<std::uint64_t>(0)] { return Random(5).stream(++*count); };
}

inline CheckCase mask_anew(bool bug) {
  return recomputed({normal({4, 4})}, dropping(same), dropping(bug ? going_on() : same));
}
inline CheckCase recomputed_block(bool bug) {
  const auto block = [](const std::function<Random()>& random) {
    return [=](const Tensors& in) { return matmul(dropping(random)(in), in[1]); };
  };
  return recomputed({normal({3, 4}), normal({4, 2})}, block(same), block(bug ? going_on() : same));
}
inline CheckCase shifted_stream(bool bug) {
  const auto next = [] {
    Random random(5);
    random.bits();
    return random;
  };
  return recomputed({normal({4, 4})}, dropping(same), dropping(bug ? std::function<Random()>(next) : same));
}
/// y = x where it is positive, and x times random slopes elsewhere.
inline CheckCase unset_slopes(bool bug) {
  const auto leaky = [](const Tensor& slopes) {
    return [=](const Tensors& in) { return where(greater(in[0], 0.0), in[0], in[0] * like(in[0], slopes)); };
  };
  const Tensor slopes = numbers().uniform({3, 4}, 0.1, 0.3, f64);
  return recomputed({normal({3, 4})}, leaky(slopes), leaky(bug ? zeros({3, 4}, f64) : slopes));
}

inline constexpr BugCard recomputations[] = {
    {"pytorch#190717", "dropout: the backward draws a mask of its own", BugClass::mask_anew, mask_anew},
    {"guided-diffusion#167, OLMo-core PR#828", "checkpoint: dropout that is computed again has another mask",
     BugClass::recompute, recomputed_block},
    {"pytorch#193671", "RReLU under checkpoint: saves slopes that were never set", BugClass::recompute, unset_slopes},
    {"pytorch#198333", "checkpoint: the generator is restored one number further", BugClass::recompute, shifted_stream},
};

}  // namespace retrace::bugs
