// The demos behind make_demo, which calls them with f64 as the default dtype. Each draws its weights from a Random of
// the seed 42 and its inputs from its stream "inputs".
#pragma once

#include <cstdint>

#include <retrace/models/demos/demo.h>

namespace retrace {

inline constexpr std::uint64_t demo_seed = 42;

/// Attention of 2 sequences of 5 rows: row sums, signs, causal zeros, and y = weights v.
Demo attention_demo();
/// RelationalMemory of 4 slots of 64, 2 heads, after 4 inputs: which slot attends to which.
Demo reasoning_demo();
/// RelationalRNNCell over 15 steps, louder from the middle on, from the identity and from zeros.
Demo evolution_demo();
/// Lstm and RelationalRNN of 64 on the same 10 rows of 32.
Demo with_and_without_memory_demo();
/// RelationalRNNCell of 16, 3 steps: how far h, c and the memory move.
Demo interaction_demo();
/// RelationalRNN with 1, 2, 4 and 8 slots.
Demo capacity_demo();

}  // namespace retrace
