// The activity of a memory with slots, step by step.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include <retrace/core/tensor/tensor.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// Slots, gates and attention of a memory over a sequence.
struct MemoryTrace {
  /// 0 is shut, 1 is open.
  struct Gate {
    std::string_view name;
    Tensors values;  // T of [B, N, S], or [B, N, 1] for one number per slot
  };

  Tensors memory;   // T + 1 of [B, N, S]: at the beginning, and after each step
  Tensors weights;  // T of [B, heads, N, K]: how each slot divides its attention among the slots and, where K = N + 1,
                    // the input, which is the last column
  std::vector<Gate> gates;

  std::int64_t steps() const { return std::ssize(weights); }
  std::int64_t slots() const { return memory.front().dim(1); }
  bool attends_to_input() const { return weights.front().dim(3) > slots(); }

  /// Takes in a step: `attention` [B, heads, L, K] of L >= N rows, without the axis of the heads for one head.
  void add(const Tensor& slots_after, const Tensor& attention) {
    memory.push_back(slots_after);
    const Tensor of_heads = attention.rank() == 3 ? unsqueeze(attention, 1) : attention;
    weights.push_back(slice(of_heads, {all, all, range(0, slots())}));
  }
  /// The values of a gate at that step; nothing if they are undefined, as for a memory without that gate.
  void add_gate(std::string_view name, const Tensor& values) {
    if (!values.defined()) return;
    auto gate = std::ranges::find(gates, name, &Gate::name);
    if (gate == gates.end()) gate = gates.insert(gates.end(), Gate{name, {}});
    gate->values.push_back(values);
  }
};

}  // namespace retrace
