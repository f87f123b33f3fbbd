#include <retrace/ops/loops/strided.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

constexpr OpInfo split_info{"split", "y = x[part]", "dx[part] += dy", "x", part_formulas, part_attributes};

}  // namespace

// Each part is a record of its own, so that the gradient of one that is not used costs nothing.
Tensors split(const Tensor& x, std::span<const std::int64_t> sizes, int axis) {
  check_defined(split_info.name, x, "x");
  const int along = axis_of(split_info.name, x, axis);
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > x.dim(along))
      throw ShapeError(text("split: a size of ", size, " does not fit axis ", along, " of ", describe_operand("x", x),
                            "; sizes are 0 or more and sum to its length"));
    total += size;
  }
  if (total != x.dim(along))
    throw ShapeError(text("split: the sizes sum to ", total, ", but axis ", along, " of ", describe_operand("x", x),
                          " has ", x.dim(along), "; they must be equal"));
  const auto strides = x.shape().strides();
  Tensors parts;
  parts.reserve(sizes.size());
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    const Strided strided{start * strides[static_cast<std::size_t>(along)], strides};
    parts.push_back(strided_copy(split_info, part_backward, x, x.shape().replaced(along, size), strided));
    start += size;
  }
  return parts;
}

Tensors split(const Tensor& x, std::initializer_list<std::int64_t> sizes, int axis) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}

}  // namespace retrace
