// Loops over threads. Results never depend on how a loop is split: each index writes its own elements.
#pragma once

#include <cstdint>
#include <type_traits>

namespace retrace {

/// The number of threads that loops of the calling thread use; at first, the number of cores (or OMP_NUM_THREADS).
int threads();
/// Sets it for the calling thread alone; OpenMP's own setting is not touched. Throws ValueError below 1.
void set_threads(int count);

namespace detail {
using LoopBody = void (*)(const void* body, std::int64_t begin, std::int64_t end);
void parallel_loop(std::int64_t count, std::int64_t grain, LoopBody call, const void* body);
}  // namespace detail

/// Calls body(begin, end) on ranges that together are [0, count). Below two grains of indices, or inside another
/// parallel loop, it is one call on this thread. An exception of the body is rethrown here.
template <class Body> void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
  if (count < 2 * grain) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
  using Plain = std::remove_reference_t<Body>;
  const auto share = [=](Plain& shared) {
    Plain* const address = &shared;  // its own address is passed on: a body may be constant or not
    detail::parallel_loop(
        count, grain,
        [](const void* context, std::int64_t begin, std::int64_t end) {
          (**static_cast<Plain* const*>(context))(begin, end);
        },
        &address);
  };
  // A body whose address is passed on must lie in memory; passing on a copy lets the original, which a small loop runs,
  // keep its pointers in registers.
  if constexpr (std::is_lvalue_reference_v<Body> || !std::is_trivially_copy_constructible_v<Plain>) {
    share(body);
  } else {
    Plain copy = body;
    share(copy);
  }
}

}  // namespace retrace
