// Counts what the test program takes from the heap.
#pragma once

#include <cstdint>

namespace retrace {

/// Calls of operator new since the program began, on all threads.
std::int64_t heap_allocations();

}  // namespace retrace
