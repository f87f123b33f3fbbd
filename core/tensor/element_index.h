// The index of one element of a tensor, for messages and reports.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <retrace/core/tensor/shape.h>

namespace retrace {

/// The index, one number per axis, of the element at a position in row-major order.
std::vector<std::int64_t> index_at(std::int64_t position, const Shape& shape);

/// "[2, 0]"
std::string index_in_brackets(std::span<const std::int64_t> index);

}  // namespace retrace
