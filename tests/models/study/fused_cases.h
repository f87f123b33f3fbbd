// The fused ops with all their options, with gradients for some of the outputs and of some of the inputs only.
#pragma once

#include <retrace/ops/checks/check_case.h>
#include <retrace/ops/ops.h>

#include <cmath>
#include <functional>
#include <vector>

namespace retrace {

/// Draws the inputs of cases, and collects these under a name.
class FusedCases {
 public:
  FusedCases(const std::string& name, std::uint64_t seed) : checked_{name, false, {}}, random_(seed) {}

  Tensor normal(const Shape& shape) { return random_.normal(shape, f64); }
  Tensors normals(const std::vector<Shape>& shapes) {
    Tensors result;
    for (const Shape& shape : shapes) result.push_back(normal(shape));
    return result;
  }
  void add(const Tensors& inputs, const std::function<Tensors(const Tensors&)>& f) {
    checked_.cases.push_back({f, inputs});
  }
  const CheckedName& result() const { return checked_; }

 private:
  CheckedName checked_;
  Random random_;
};

inline CheckedName cases_of_attention() {
  FusedCases cases("fused_attention", 11);
  const auto attend = [&](const Shape& q, const Shape& k, const Shape& v, const AttentionOptions& options) {
    cases.add(cases.normals({q, k, v}),
              [=](const Tensors& in) { return Tensors{attention(in[0], in[1], in[2], options)}; });
  };
  const Tensor padding = padding_mask(indices({2, 0, 5}), 5, f64), of_heads = cases.normal({2, 3, 5});
  const Tensor seen = reshape(indices({0, 0, 0, 1, 0, 1}), {2, 3});
  attend({3, 4}, {5, 4}, {5, 2}, {.heads = 2, .causal = true});
  attend({5, 4}, {3, 4}, {3, 2}, {.causal = true});  // the first queries see nothing
  attend({3, 3, 4}, {3, 5, 4}, {3, 5, 6}, {.heads = 2, .mask = padding});
  attend({3, 3, 4}, {3, 5, 4}, {3, 5, 6}, {.causal = true, .mask = padding});
  attend({3, 4}, {5, 4}, {5, 2}, {.heads = 2, .mask = of_heads});
  attend({2, 4}, {3, 4}, {3, 2}, {.heads = 2, .mask = seen});
  attend({2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}, {.heads = 4, .causal = true, .mask = cases.normal({5})});
  attend({1, 4}, {0, 4}, {0, 2}, {});
  attend({0, 3, 4}, {0, 3, 4}, {0, 3, 4}, {.heads = 2});
  attend({3, 150}, {4, 150}, {4, 3}, {});  // beyond the registers of the kernels
  attend({70, 4}, {20, 4}, {20, 4}, {.heads = 2, .causal = true});
  attend({190, 4}, {200, 4}, {200, 2}, {.heads = 2, .causal = true});  // long: the weights are not stored
  attend({190, 2}, {200, 2}, {200, 1}, {.causal = true, .mask = cases.normal({200})});
  attend({2, 190, 2}, {2, 200, 2}, {2, 200, 1}, {.mask = padding_mask(indices({150, 0}), 200, f64)});
  const Tensors inputs = cases.normals({{2, 3, 4}, {2, 5, 4}, {2, 5, 2}});
  cases.add(inputs, [](const Tensors& in) { return Tensors{attention(in[0], in[1].detach(), in[2].detach())}; });
  cases.add(inputs, [](const Tensors& in) { return Tensors{attention(in[0].detach(), in[1], in[2].detach())}; });
  cases.add(inputs, [](const Tensors& in) { return Tensors{attention(in[0].detach(), in[1].detach(), in[2])}; });
  cases.add(inputs, [](const Tensors& in) { return Tensors{attention_with_weights(in[0], in[1], in[2]).weights}; });
  cases.add(inputs, [](const Tensors& in) {
    const AttentionResult result = attention_with_weights(in[0], in[1], in[2], {.heads = 2, .causal = true});
    return Tensors{result.weights, result.y};
  });
  return cases.result();
}

/// Nearly all weight is on one key, and large numbers that flow back cancel: what is left of f32 has few digits.
inline CheckedName saturated_attention() {
  FusedCases cases("saturated_attention", 15);
  const Tensor x = tensor({{5.3, 0, 0, 0}, {0, 5.3, 0, 0}, {0, 0, 5.3, 0}, {0, 0, 0, 5.3}}, f64);
  cases.add({x, scale(cases.normal({4, 4}), 1000)},
            [](const Tensors& in) { return Tensors{attention(in[0], in[0], in[1])}; });
  return cases.result();
}

inline CheckedName cases_of_packed_attention() {
  FusedCases cases("fused_packed_attention", 12);
  for (const PackedLayout layout : {PackedLayout::by_head, PackedLayout::by_kind}) {
    const auto attend = [&](const Shape& qkv, PackedAttentionOptions options) {
      options.layout = layout;
      cases.add({cases.normal(qkv)}, [=](const Tensors& in) { return Tensors{packed_attention(in[0], options)}; });
    };
    attend({2, 4, 10}, {.heads = 2, .key_size = 1, .queries = 3, .causal = true});
    attend({4, 7}, {.key_size = 3, .queries = 1});
    attend({2, 3, 2, 12}, {.heads = 3, .key_size = 1, .mask = tensor({{0.0, -INFINITY}, {-INFINITY, -INFINITY}}, f64)});
    attend({3, 400}, {.heads = 2, .key_size = 80, .causal = true});
    attend({200, 6}, {.heads = 2, .key_size = 1, .causal = true});  // long
    attend({200, 3}, {.key_size = 1, .queries = 190, .mask = cases.normal({200})});
    const PackedAttentionOptions options{.heads = 2, .key_size = 1, .layout = layout, .queries = 2};
    cases.add({cases.normal({2, 3, 8})},
              [=](const Tensors& in) { return Tensors{packed_attention_with_weights(in[0], options).weights}; });
  }
  return cases.result();
}

inline CheckedName cases_of_recurrent_layers() {
  FusedCases cases("fused_recurrent", 13);
  for (const Tensor& lengths : {Tensor(), indices({4, 0, 2}), indices({1, 2, 3})}) {
    const Tensors lstm = cases.normals({{3, 4, 20}, {3, 5}, {3, 5}, {20, 5}});
    const auto run_lstm = [=](const Tensors& in) { return lstm_sequence(in[0], in[1], in[2], in[3], lengths); };
    cases.add(lstm, [=](const Tensors& in) { return Tensors{run_lstm(in).y}; });
    cases.add(lstm, [=](const Tensors& in) { return Tensors{run_lstm(in).h}; });
    cases.add(lstm, [=](const Tensors& in) { return Tensors{run_lstm(in).c}; });
    cases.add(lstm, [=](const Tensors& in) {
      const LstmSequence run = run_lstm({in[0].detach(), in[1], in[2].detach(), in[3]});
      return Tensors{run.c, run.y};
    });
    const Tensors gru = cases.normals({{3, 4, 9}, {3, 3}, {9, 3}, {9}});
    const auto run_gru = [=](const Tensors& in) { return gru_sequence(in[0], in[1], in[2], in[3], lengths); };
    cases.add(gru, [=](const Tensors& in) { return Tensors{run_gru(in).y}; });
    cases.add(gru, [=](const Tensors& in) { return Tensors{run_gru(in).h}; });
    cases.add(gru, [=](const Tensors& in) {
      const RnnSequence run = run_gru({in[0], in[1].detach(), in[2].detach(), in[3]});
      return Tensors{run.y, run.h};
    });
    for (const Activation activation : {Activation::tanh, Activation::relu}) {
      const Tensors rnn = cases.normals({{3, 4, 2}, {3, 2}, {2, 2}});
      const auto run_rnn = [=](const Tensors& in) { return rnn_sequence(in[0], in[1], in[2], activation, lengths); };
      cases.add(rnn, [=](const Tensors& in) { return Tensors{run_rnn(in).y}; });
      cases.add(rnn, [=](const Tensors& in) { return Tensors{run_rnn(in).h}; });
      cases.add(rnn, [=](const Tensors& in) {
        const RnnSequence run = run_rnn({in[0].detach(), in[1].detach(), in[2]});
        return Tensors{run.y, run.h};
      });
    }
  }
  cases.add(cases.normals({{2, 0, 8}, {2, 2}, {8, 2}}), [](const Tensors& in) {  // no steps, one tensor as both states
    const LstmSequence run = lstm_sequence(in[0], in[1], in[1], in[2]);
    return Tensors{run.y, run.h, run.c};
  });
  cases.add({zeros({2, 3, 2}, f64), zeros({2, 2}, f64), cases.normal({2, 2})}, [](const Tensors& in) {
    return Tensors{rnn_sequence(in[0], in[1], in[2], Activation::relu).y};  // all at the kink
  });
  return cases.result();
}

inline CheckedName cases_of_memories() {
  FusedCases cases("fused_memory", 14);
  const auto all_of = [](const GatedMemoryResult& result) {
    Tensors results{result.memory, result.input_gate};
    if (result.forget_gate.defined()) results.push_back(result.forget_gate);
    return results;
  };
  for (const bool coupled : {false, true}) {
    const std::int64_t gates = coupled ? 3 : 6;
    const Tensors inputs = cases.normals({{2, 2, 4, 3}, {2, 2, 5, 3}, {2, 2, 4, gates}, {2, 2, gates}, {}, {1}});
    const auto run = [=](const Tensors& in, bool has_input_bias, bool has_forget_bias) {
      return gated_memory(in[0], in[1], in[2], in[3],
                          {.input_bias = has_input_bias ? in[4] : Tensor(),
                           .forget_bias = has_forget_bias ? in[5] : Tensor(),
                           .coupled = coupled});
    };
    cases.add(inputs, [=](const Tensors& in) { return all_of(run(in, true, !coupled)); });
    cases.add(inputs, [=](const Tensors& in) { return all_of(run(in, false, !coupled)); });
    cases.add(inputs, [=](const Tensors& in) { return Tensors{run(in, true, false).memory}; });
    cases.add(inputs, [=](const Tensors& in) { return Tensors{run(in, true, false).input_gate}; });
    cases.add(inputs, [=](const Tensors& in) { return Tensors{all_of(run(in, false, false)).back()}; });
    cases.add(inputs, [=](const Tensors& in) {
      return all_of(run({in[0].detach(), in[1], in[2].detach(), in[3], in[4].detach(), in[5]}, true, !coupled));
    });
    cases.add(inputs, [=](const Tensors& in) {
      return all_of(run({in[0], in[1].detach(), in[2], in[3].detach(), in[4], in[5].detach()}, true, !coupled));
    });
  }
  return cases.result();
}

inline std::vector<CheckedName> fused_cases() {
  return {cases_of_attention(), cases_of_packed_attention(), cases_of_recurrent_layers(), cases_of_memories()};
}

}  // namespace retrace
