// The memory beside a recurrent network: one of the three relational memories, behind one interface.
#pragma once

#include <string_view>
#include <variant>

#include <retrace/models/networks/memory_trace.h>
#include <retrace/nn/memory/cell_memory.h>
#include <retrace/nn/memory/notebook_memory.h>
#include <retrace/nn/memory/relational_memory.h>

namespace retrace {

/// CellMemory, RelationalMemory or NotebookMemory: "cell", "gated" and "notebook" in a ModelSpec.
enum class MemoryKind { cell, relational, notebook };

/// The kind of a SlotMemory, and its sizes.
struct SlotMemoryOptions {
  MemoryKind kind = MemoryKind::cell;
  std::int64_t slots = 4;
  std::int64_t slot_size = 64;
  int heads = 2;
  InitialMemory initial = InitialMemory::identity;
  bool gate = true;  // a NotebookMemory ignores it
};

/// Slots [B, N, S] that take in one vector [B, I] per step.
struct SlotMemory {
  std::variant<CellMemory, RelationalMemory, NotebookMemory> memory;
  std::optional<Linear> input;  // I -> S, for a NotebookMemory whose slots have another size than its input
  SlotMemoryOptions options;

  SlotMemory(std::int64_t input_size, Random& random, const SlotMemoryOptions& slot_memory = {});

  /// The slots after taking in x [B, I].
  Tensor operator()(const Tensor& slots, const Tensor& x) const;
  /// The rows of the identity, or zeros: [B, N, S], a constant.
  Tensor initial_memory(std::int64_t batch) const;
  /// The trace of the memory over the vectors x [B, T, I], from its initial state.
  MemoryTrace trace(const Tensor& x) const;
  void visit(auto&& see) const {
    std::visit([&](const auto& kind) { kind.visit(see); }, memory);
    see("input", input);
  }
};

/// The slots after each of the vectors x [B, T, I], step by step, from `slots` or, if they are undefined, the initial
/// memory; everything that does not depend on the slots is computed for all steps at once.
class MemoryOverTime {
 public:
  MemoryOverTime(const SlotMemory& memory, const Tensor& x, const Tensor& slots = {});
  /// Takes in x[:, t], for t = 0, 1, ...
  const Tensor& step(std::int64_t t);
  const Tensor& slots() const { return slots_; }

 private:
  const SlotMemory& memory_;
  Tensor x_;
  ProjectedInput projected_;  // of a CellMemory
  Tensor slots_;
};

}  // namespace retrace
