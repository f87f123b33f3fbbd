// Replaces operator new and delete of the whole test program by ones that count.
#include <gtest/gtest.h>
#include <retrace/tests/heap_count.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace {

std::atomic<std::int64_t> allocations{0};

void* counted(void* memory) {
  ++allocations;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* counted_aligned(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit));
}

}  // namespace

// Not inlined: a compiler that saw malloc() behind new and free() behind delete would warn of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(std::malloc(bytes == 0 ? 1 : bytes)); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return counted(std::malloc(bytes == 0 ? 1 : bytes)); }
// std::stable_sort asks for its buffer without an exception, and gives it back to the plain delete.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_aligned(bytes, alignment);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted_aligned(bytes, alignment);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace retrace {

std::int64_t heap_allocations() { return allocations; }

namespace {

TEST(HeapCount, CountsWhatIsTaken) {
  const std::int64_t before = heap_allocations();
  const std::vector<int> numbers(1000);
  const auto number = std::make_unique<double>(1);
  EXPECT_EQ(heap_allocations(), before + 2);
}

}  // namespace
}  // namespace retrace
