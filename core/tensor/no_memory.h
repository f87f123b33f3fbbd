// The error for a tensor that could not be allocated.
#pragma once

#include <string_view>

#include <retrace/core/tensor/dtype.h>
#include <retrace/core/tensor/shape.h>

namespace retrace {

/// Throws the MemoryError "function: name [shape] of dtype takes 3.64 TiB, which could not be allocated; ...".
[[noreturn]] void throw_no_memory(const char* function, std::string_view name, const Shape& shape, Dtype dtype);

}  // namespace retrace
