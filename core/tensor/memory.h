// The pool that elements and small lists live in: blocks of size classes. A freed block waits in its thread's list for
// the next of its class, so that a steady training step asks the system for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

namespace retrace {

/// Physical memory and swap of this machine in bytes, the maximum size of a block: the system may grant more than it
/// has and kill the program when the memory is used. (A container's limit is not known here; the system enforces it.)
std::size_t total_memory();

/// The contents of the pool, over all threads. Bytes are those of whole blocks.
struct MemoryStats {
  std::int64_t live_bytes = 0;    // in use now
  std::int64_t peak_bytes = 0;    // peak use: the sum of the threads' own peaks
  std::int64_t pooled_bytes = 0;  // freed and kept for reuse
  std::int64_t fresh_blocks = 0;  // blocks allocated from the system since the start
};
/// The numbers of this moment.
MemoryStats memory_stats();

namespace detail {
/// At least `bytes` bytes, 64-byte aligned. Throws MemoryError.
void* allocate_pooled(std::size_t bytes);
void free_pooled(void* first);
}  // namespace detail

/// An allocator for small vectors on hot paths (lists of tensors), drawing on the pool.
template <class T> struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U> PoolAllocator(const PoolAllocator<U>&) {}
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(detail::allocate_pooled(count * sizeof(T)));
  }
  void deallocate(T* pointer, std::size_t) { detail::free_pooled(pointer); }
  template <class U> bool operator==(const PoolAllocator<U>&) const { return true; }
};

}  // namespace retrace
