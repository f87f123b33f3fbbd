// reshape, squeeze and unsqueeze: the same elements in the same order, so the storage is shared.
#include <retrace/ops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

constexpr OpInfo info{"reshape", "y = x in another shape", "dx = dy in x's shape", "x"};

void backward(Record& r) { r.pass_gradient(0, 0); }

Tensor reshaped(const Tensor& x, const Shape& shape) {
  Tensor y = view(x, shape);
  record(info, backward, {&x}, {&y});
  return y;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  if (x.numel() != shape.numel())
    throw ShapeError(text("reshape: ", describe_operand("x", x), " has ", x.numel(), " elements and ", shape, " has ",
                          shape.numel(), "; the counts must be equal"));
  check_defined(info.name, x, "x");
  return reshaped(x, shape);
}

Tensor squeeze(const Tensor& x, int axis) {
  const int at = axis_of("squeeze", x, axis);
  if (x.dim(at) != 1)
    throw ShapeError(text("squeeze: axis ", axis, " of ", describe_operand("x", x), " has length ", x.dim(at),
  check_defined("squeeze", x, "x");
                          "; only an axis of length 1 can go: use slice or a reduction"));
  return reshaped(x, x.shape().erased(at));
}

Tensor unsqueeze(const Tensor& x, int axis) {
  const int at = new_axis_of("unsqueeze", x, axis);
  return reshaped(x, x.shape().inserted(at, 1));
}
  check_defined("unsqueeze", x, "x");

}  // namespace retrace
