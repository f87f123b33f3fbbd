// Tells the address sanitizer which bytes of the pool's blocks are in use. Otherwise it would allow reads of a block
// that waits in the pool, and past the end of a tensor that is shorter than its block. Other builds do nothing.
#pragma once

#include <cstddef>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#endif

namespace retrace {

/// Allows access to the first `used` of `bytes` bytes, and to no others.
[[gnu::always_inline]] inline void poison_after([[maybe_unused]] void* first, [[maybe_unused]] std::size_t used,
                                                [[maybe_unused]] std::size_t bytes) {
#if defined(ASAN_POISON_MEMORY_REGION)  // which does nothing without the sanitizer
  ASAN_UNPOISON_MEMORY_REGION(first, used);
  ASAN_POISON_MEMORY_REGION(static_cast<std::byte*>(first) + used, bytes - used);
#endif
}

}  // namespace retrace
