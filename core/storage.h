// Where elements live: blocks of the pool (core/memory.h), counted. Behind the wall of core: see core/op_access.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace retrace {
namespace detail {

/// A block of the pool. The elements follow its 64 bytes.
struct alignas(64) Storage {
  std::uint64_t version = 0;    // grows whenever mutable_values() was handed out
  std::int64_t references = 1;  // nodes, saved values and gradients that use it
  std::uint32_t size_class = 0;
  bool shared = false;      // used by several threads: counts are atomic
  bool lent = false;        // the user's, read as a gradient during a walk: whoever would keep it copies it
  Storage* next = nullptr;  // in a free list

  void* data() { return reinterpret_cast<std::byte*>(this) + sizeof(Storage); }
};

/// A block of at least `bytes` bytes with one reference. Throws MemoryError.
Storage* allocate_storage(std::size_t bytes);
/// Back to the pool of this thread.
void free_storage(Storage* storage);

inline void retain(Storage* storage) {
  if (storage->shared)
    __atomic_fetch_add(&storage->references, 1, __ATOMIC_RELAXED);
  else
    ++storage->references;
}
void release_shared(Storage* storage);
inline void release(Storage* storage) {
  if (storage->shared) [[unlikely]]
    return release_shared(storage);
  if (--storage->references == 0) free_storage(storage);
}

}  // namespace detail

using detail::allocate_storage;
using detail::Storage;

}  // namespace retrace
