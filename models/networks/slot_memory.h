// The memory beside a recurrent network: one of the three relational memories, behind one face.
#pragma once

#include <string_view>
#include <variant>

#include <retrace/models/networks/memory_trace.h>
#include <retrace/nn/cell_memory.h>
#include <retrace/nn/notebook_memory.h>
#include <retrace/nn/relational_memory.h>

namespace retrace {

/// CellMemory, RelationalMemory or NotebookMemory.
enum class MemoryKind { cell, gated, notebook };

struct SlotMemoryOptions {
  MemoryKind kind = MemoryKind::cell;
  std::int64_t slots = 4;
  std::int64_t slot_size = 64;
  int heads = 2;
  InitialMemory initial = InitialMemory::identity;
  bool gate = true;  // a NotebookMemory has no choice
};

/// Slots [B, N, S] that take in a vector [B, I] a step.
struct SlotMemory {
  std::variant<CellMemory, RelationalMemory, NotebookMemory> memory;
  std::optional<Linear> input;  // I -> S, for a NotebookMemory whose slots have another size than its input
  SlotMemoryOptions options;

  SlotMemory(std::int64_t input_size, Random& random, const SlotMemoryOptions& slot_memory = {});

  /// The slots after taking in x [B, I].
  Tensor operator()(const Tensor& slots, const Tensor& x) const;
  /// The rows of the identity, or zeros: [B, N, S], a constant.
  Tensor initial_memory(std::int64_t batch) const;
  /// What it does with each of the vectors x [B, T, I] from its beginning on.
  MemoryTrace trace(const Tensor& x) const;
  void visit(auto&& see) const {
    std::visit([&](const auto& kind) { kind.visit(see); }, memory);
    see("input", input);
  }
};

/// The slots after each of the vectors x [B, T, I], step by step; what does not depend on the slots is computed at
/// once.
class MemoryOverTime {
 public:
  MemoryOverTime(const SlotMemory& memory, const Tensor& x);
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
