// Counts what the test program takes from the heap, and lets it find nothing there.
#pragma once

#include <cstdint>

namespace retrace {

/// Calls of operator new since the program began, on all threads.
std::int64_t heap_allocations();

/// While it lives, the `number`-th call of operator new from its making on, counted from 1, fails; and, if it is
/// `lasting`, so do all after it. One lives at a time.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::int64_t number, bool lasting = false);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
};

}  // namespace retrace
