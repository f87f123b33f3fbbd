// Replaces operator new and delete of the whole test program by functions that count, and that fail on request.
#include <gtest/gtest.h>
#include <retrace/tests/heap_count.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace {

std::atomic<std::int64_t> allocations{0}, largest{0};
// The calls that fail; none by default.
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> first_failure{never}, last_failure{never};

/// The memory, or null if this call is to fail.
void* counted_or_null(void* memory, std::size_t bytes) {
  if (!retrace::allocation_fails(bytes)) return memory;
  std::free(memory);
  return nullptr;
}

void* counted(void* memory, std::size_t bytes) {
  memory = counted_or_null(memory, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* counted_aligned(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit), bytes);
}

}  // namespace

// Not inlined: a compiler that saw malloc() behind new and free() behind delete would warn of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(std::malloc(bytes == 0 ? 1 : bytes), bytes); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return counted(std::malloc(bytes == 0 ? 1 : bytes), bytes);
}
// std::stable_sort asks for its buffer without an exception, and gives it back to the plain delete.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted_or_null(std::malloc(bytes == 0 ? 1 : bytes), bytes);
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

bool allocation_fails(std::size_t bytes) {
  const auto asked = static_cast<std::int64_t>(bytes);
  for (std::int64_t most = largest; asked > most && !largest.compare_exchange_weak(most, asked);) {
  }
  const std::int64_t number = ++allocations;
  return number >= first_failure && number <= last_failure;
}

std::int64_t heap_allocations() { return allocations; }
std::int64_t largest_heap_allocation() { return largest.exchange(0); }

FailingAllocation::FailingAllocation(std::int64_t number, bool lasting) {
  const std::int64_t first = allocations + number;
  last_failure = lasting ? never : first;
  first_failure = first;
}

FailingAllocation::~FailingAllocation() { first_failure = last_failure = never; }

namespace {

TEST(HeapCount, CountsWhatIsTaken) {
  const std::int64_t before = heap_allocations();
  const std::vector<int> numbers(1000);
  const auto number = std::make_unique<double>(1);
  EXPECT_EQ(heap_allocations(), before + 2);
  largest_heap_allocation();
  const std::vector<char> bytes(12345);
  EXPECT_EQ(largest_heap_allocation(), 12345);
  EXPECT_EQ(largest_heap_allocation(), 0);
}

TEST(HeapCount, AllocationsFailWhereTheyAreAskedTo) {
  const auto fails = [] {
    try {
      ::operator delete(::operator new(8));  // by name: the compiler may leave out those of a new-expression
      return false;
    } catch (const std::bad_alloc&) {
      return true;
    }
  };
  // A failed expectation allocates, so all expectations come after the failing calls.
  std::array<bool, 3> one{}, lasting{};
  {
    const FailingAllocation second(2);
    std::ranges::generate(one, fails);
  }
  {
    const FailingAllocation from_second_on(2, true);
    std::ranges::generate(lasting, fails);
  }
  EXPECT_EQ(one, (std::array{false, true, false}));
  EXPECT_EQ(lasting, (std::array{false, true, true}));
  EXPECT_FALSE(fails());
}

}  // namespace
}  // namespace retrace
