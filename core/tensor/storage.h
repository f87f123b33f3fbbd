// Where elements live: blocks of the pool (core/tensor/memory.h), counted. Internal to core: see
// core/tensor/op_access.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <retrace/core/tensor/reference_count.h>

namespace retrace {
namespace detail {

/// A block of the pool. The elements follow its 64 bytes.
struct alignas(64) Storage : ReferenceCount {  // by nodes, saved values and gradients
  Storage() : ReferenceCount(Counted::storage) {}
  using ReferenceCount::restart;

  std::uint64_t version = 0;  // grows with every change; odd if a span may still bring others
  std::uint32_t size_class = 0;
  bool lent = false;              // the user's, read as a gradient during a walk: whoever would keep it copies it
  Storage* next = nullptr;        // in a free list
  ReferenceCount* next_returned;  // in the list of what other threads return to this one

  void count_change() { version += 2; }
  /// To a span that may outlive this moment: from now on, whoever saves the values copies them.
  void expose() { version |= 1; }
  bool is_exposed() const { return (version & 1) != 0; }
  /// When it is freed: a saved value that was freed too early can never look unchanged.
  void end_version() { version = (version | 1) + 1; }

  void* data() { return reinterpret_cast<std::byte*>(this) + sizeof(Storage); }
};

/// A block of at least `bytes` bytes with one reference. Throws MemoryError.
Storage* allocate_storage(std::size_t bytes);
/// Returns a block to the pool of this thread, or to the pool that all threads share.
void free_storage(Storage* storage);
void free_storage_for_all(Storage* storage);

inline void retain(Storage* storage) { storage->add(ReferenceCount::handle); }
inline void release(Storage* storage) {
  if (storage->remove(ReferenceCount::handle)) free_storage(storage);
}
/// The free blocks of a thread that ends go to the others.
void hand_over_blocks();

}  // namespace detail

using detail::allocate_storage;
using detail::Storage;

}  // namespace retrace
