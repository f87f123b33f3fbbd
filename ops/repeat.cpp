#include <retrace/ops/op.h>

namespace retrace {
namespace {

Tensor repeat_along(const Tensor& x, int axis, std::int64_t count) {
  const std::int64_t outer = x.shape().first(axis).numel(), inner = x.shape().last(x.rank() - axis).numel();
  const Tensor copies = broadcast_to(reshape(x, {outer, 1, inner}), {outer, count, inner});
  return reshape(copies, x.shape().replaced(axis, x.dim(axis) * count));
}

}  // namespace

Tensor repeat(const Tensor& x, std::span<const std::int64_t> counts) {
  check_defined("repeat", x, "x");
  const int rank = static_cast<int>(counts.size());
  if (rank < x.rank())
    throw ShapeError(text("repeat: ", rank, " counts for ", describe_operand("x", x), ", which has ", x.rank(),
                          " axes; give one count per axis, 1 for an axis to leave"));
  check_rank("repeat", x, rank);
  Shape shape = x.shape();
  while (shape.rank() < rank) shape = shape.inserted(0, 1);
  Shape repeated = shape;
  for (int axis = 0; axis < rank; ++axis)
    repeated = repeated.replaced(
        axis, checked_product("repeat", "a repeated length", {shape[axis], counts[static_cast<std::size_t>(axis)]}));
  check_numel(repeated, "repeat");
  Tensor y = shape == x.shape() ? x : reshape(x, shape);
  for (int axis = 0; axis < rank; ++axis)
    if (const std::int64_t count = counts[static_cast<std::size_t>(axis)]; count != 1) y = repeat_along(y, axis, count);
  return y;
}

Tensor repeat(const Tensor& x, std::initializer_list<std::int64_t> counts) {
  return repeat(x, std::span(counts.begin(), counts.size()));
}

}  // namespace retrace
