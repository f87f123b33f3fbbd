// The slots of a memory, and sums over them.
#pragma once

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/op.h>

namespace retrace {

struct GatedMemorySizes {
  std::int64_t samples, slots, units, gates;
  std::int64_t candidates;  // rows of a sample's candidate: slots or more

  GatedMemorySizes(const Shape& memory, const Shape& candidate, std::int64_t gates_of_slot)
      : samples(memory.first(memory.rank() - 2).numel()),
        slots(memory[-2]),
        units(memory[-1]),
        gates(gates_of_slot),
        candidates(candidate[-2]) {}
};

/// A slot of a sample: where its parts of arrays begin. Null stays null.
struct Slot {
  const GatedMemorySizes& n;
  std::int64_t sample, row;  // row: of the slots of all samples

  template <class T> T* units(T* x) const { return x == nullptr ? nullptr : x + row * n.units; }
  template <class T> T* gates(T* x) const { return x + row * n.gates; }
  template <class T> T* candidate(T* x) const {
    return x == nullptr ? nullptr : x + (row + sample * (n.candidates - n.slots)) * n.units;
  }
};

/// body(slot) for each, over threads.
template <class Body> void for_each_slot(const GatedMemorySizes& n, Body&& body) {
  constexpr std::int64_t grain = 1024;  // units that are worth a thread
  parallel_for(n.samples, grain / (n.slots * n.units + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin * n.slots; row < end * n.slots; ++row) body(Slot{n, row / n.slots, row});
  });
}

/// dq += the sum of dz over the slots of each sample.
template <class T> void add_sums_over_slots(const GatedMemorySizes& n, const T* dz, T* dq) {
  for (std::int64_t sample = 0; sample < n.samples; ++sample)
    kernels::add_rows(dz + sample * n.slots * n.gates, n.gates, n.slots, n.gates, dq + sample * n.gates);
}

/// The sum over all slots of dz's units from `first` on.
template <class T> T sum_of_gate(const GatedMemorySizes& n, const T* dz, std::int64_t first) {
  return ordered_sum<T>(n.samples * n.slots, [&](std::int64_t row) {
    const T* units = dz + row * n.gates + first;
    return ordered_sum<T>(n.units, [=](std::int64_t k) { return units[k]; });
  });
}

}  // namespace retrace
