// Random numbers of symbols.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <retrace/core/tensor/memory.h>
#include <retrace/core/tensor/random.h>

namespace retrace {

/// Small integers from the pool: drawing a batch does not allocate from the heap.
using Integers = std::vector<std::int64_t, PoolAllocator<std::int64_t>>;

/// Fills `numbers` with independent numbers of 0 .. count-1.
inline void draw_evenly(Random& random, std::int64_t count, std::span<std::int64_t> numbers) {
  for (std::int64_t& number : numbers) number = random.integer(count);
}

/// Fills `numbers` with different numbers of 0 .. count-1 in random order, drawing again while a number repeats.
inline void draw_different(Random& random, std::int64_t count, std::span<std::int64_t> numbers) {
  for (auto next = numbers.begin(); next != numbers.end(); ++next) {
    do {
      *next = random.integer(count);
    } while (std::find(numbers.begin(), next, *next) != next);
  }
}

}  // namespace retrace
