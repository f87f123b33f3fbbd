// Counts the heap allocations of the test program, and makes chosen ones fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace retrace {

/// Calls of operator new since the program began, on all threads.
std::int64_t heap_allocations();

/// The most bytes that one of these calls since the last question asked for.
std::int64_t largest_heap_allocation();

/// Counts an allocation that is not by operator new; whether it is to fail.
bool allocation_fails(std::size_t bytes);

/// During its lifetime, the `number`-th call of operator new since its construction (from 1) fails, and all later calls
/// too if `lasting`. Only one may exist at a time.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::int64_t number, bool lasting = false);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
};

}  // namespace retrace
