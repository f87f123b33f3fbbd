// Where elements live: 64-byte aligned blocks from a pool of size classes. A freed block waits in its thread's list for
// the next tensor of its class, so that a steady training step asks the system for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

namespace retrace {

/// A block of the pool. The elements follow its 64 bytes.
struct alignas(64) Storage {
  std::uint64_t version = 0;    // grows whenever mutable_values() was handed out
  std::int64_t references = 1;  // nodes, saved values and gradients that use it
  std::uint32_t size_class = 0;
  bool shared = false;      // used by several threads: counts are atomic
  bool lent = false;        // the user's, read as a gradient during a walk: whoever would keep it copies it
  Storage* next = nullptr;  // in a free list

  void* data() { return reinterpret_cast<std::byte*>(this) + sizeof(Storage); }
  const void* data() const { return reinterpret_cast<const std::byte*>(this) + sizeof(Storage); }
};

/// Physical memory and swap of this machine in bytes, the maximum size of a block: the system may grant more than it
/// has and kill the program when the memory is used. (A container's limit is not known here; the system enforces it.)
std::size_t total_memory();
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
inline void release(Storage* storage) {
  const std::int64_t left =
      storage->shared ? __atomic_sub_fetch(&storage->references, 1, __ATOMIC_ACQ_REL) : --storage->references;
  if (left == 0) free_storage(storage);
}

/// The contents of the pool, over all threads. Bytes are those of whole blocks.
struct MemoryStats {
  std::int64_t live_bytes = 0;    // in use now
  std::int64_t peak_bytes = 0;    // peak use: the sum of the threads' own peaks
  std::int64_t pooled_bytes = 0;  // freed and kept for reuse
  std::int64_t fresh_blocks = 0;  // blocks allocated from the system since the start
};
MemoryStats memory_stats();

/// An allocator for small vectors on hot paths (lists of tensors), drawing on the same pool.
template <class T> struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U> PoolAllocator(const PoolAllocator<U>&) {}
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_storage(count * sizeof(T))->data());
  }
  void deallocate(T* pointer, std::size_t) {
    free_storage(reinterpret_cast<Storage*>(reinterpret_cast<std::byte*>(pointer) - sizeof(Storage)));
  }
  template <class U> bool operator==(const PoolAllocator<U>&) const { return true; }
};

}  // namespace retrace
