#include <retrace/core/tensor/element_index.h>

#include <retrace/core/base/error.h>

namespace retrace {

std::vector<std::int64_t> index_at(std::int64_t position, const Shape& shape) {
  const auto strides = shape.strides();
  std::vector<std::int64_t> index;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t stride = strides[static_cast<std::size_t>(axis)];
    index.push_back(position / stride);
    position %= stride;
  }
  return index;
}

std::string index_in_brackets(std::span<const std::int64_t> index) {
  std::string list;
  for (const std::int64_t place : index) list += text(list.empty() ? "" : ", ", place);
  return text("[", list, "]");
}

}  // namespace retrace
