// reshape, squeeze and unsqueeze: the same elements in the same order, so the storage is shared.
#include <vector>

#include <retrace/core/attribute.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

Formulas formulas(const Record& r) {
  return {text("y = reshape(x, ", r.out(0).shape, ")"), text("dx = reshape(dy, ", r.in(0).shape, ")")};
}
AttributeList attribute_list(const Record& r) {
  const Shape& y = r.out(0).shape;
  return {{"shape", std::vector(y.begin(), y.end())}};
}
constexpr OpInfo info{"reshape", "y = reshape(x, shape)", "dx = reshape(dy, shape of x)", "x",
                      formulas,  attribute_list};

void backward(Record& r) { r.pass(0, 0); }

Tensor reshaped(const Tensor& x, const Shape& shape) {
  Tensor y = view(x, shape);
  record(info, backward, {&x}, {&y});
  return y;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  check_defined(info.name, x, "x");
  if (x.numel() != shape.numel())
    throw ShapeError(text("reshape: ", describe_operand("x", x), " has ", x.numel(), " elements and ", shape, " has ",
                          shape.numel(), "; the counts must be equal"));
  return reshaped(x, shape);
}

Tensor squeeze(const Tensor& x, int axis) {
  check_defined("squeeze", x, "x");
  const int position = axis_of("squeeze", x, axis);
  if (x.dim(position) != 1)
    throw ShapeError(text("squeeze: axis ", axis, " of ", describe_operand("x", x), " has length ", x.dim(position),
                          "; only an axis of length 1 can go: use slice or a reduction"));
  return reshaped(x, x.shape().erased(position));
}

Tensor unsqueeze(const Tensor& x, int axis) {
  check_defined("unsqueeze", x, "x");
  const int position = new_axis_of("unsqueeze", x, axis);
  return reshaped(x, x.shape().inserted(position, 1));
}

}  // namespace retrace
