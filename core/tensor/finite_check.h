// Finds an element that is not finite, and says where it is.
#pragma once

#include <cstdint>
#include <string>

#include <retrace/core/tensor/dtype.h>
#include <retrace/core/tensor/shape.h>

namespace retrace {

/// The position, in the order of memory, of the first element that is NaN or infinite; -1 if there is none.
std::int64_t find_nonfinite(const void* values, std::int64_t count, Dtype dtype);

/// The element at that position: "nan at [2, 0]"; "-inf" in a tensor without axes.
std::string element_text(const void* values, const Shape& shape, Dtype dtype, std::int64_t position);

}  // namespace retrace
