// reshape, squeeze and unsqueeze: the same elements in the same order, so the storage is shared.
#include <retrace/ops/op.h>

namespace retrace {
namespace {

Formulas reshape_formulas(const Record& r) {
  return {text("y = reshape(x, ", r.out(0).shape, ")"), text("dx = reshape(dy, ", r.in(0).shape, ")")};
}
AttributeList reshape_attributes(const Record& r) {
  const Shape& y = r.out(0).shape;
  return {{"shape", std::vector(y.begin(), y.end())}};
}
constexpr OpInfo reshape_info{"reshape", "y = reshape(x, shape)", "dx = reshape(dy, shape of x)",
                              "x",       reshape_formulas,        reshape_attributes};

void reshape_backward(Record& r) { r.pass(0, 0); }

/// The extents as a shape, with -1 replaced by what the elements of x leave for it.
Shape inferred(const Tensor& x, std::span<const std::int64_t> extents) {
  const auto unknown = std::ranges::find(extents, -1);
  if (unknown == extents.end()) return Shape(extents);
  std::vector<std::int64_t> known(extents.begin(), extents.end());
  std::int64_t& missing = known[static_cast<std::size_t>(unknown - extents.begin())];
  missing = 1;
  const auto refuse = [&](const auto&... why) {
    std::string list;
    for (const std::int64_t extent : extents) list += text(list.empty() ? "" : ", ", extent);
    throw ShapeError(text("reshape: ", describe_operand("x", x), " has ", x.numel(), " elements, and [", list, "] ",
                          why..., "; give one -1 at most, and extents that divide the count"));
  };
  if (std::ranges::count(extents, -1) > 1) refuse("leaves more than one extent open");
  const std::int64_t others = Shape(known).numel();
  if (others == 0 || x.numel() % others != 0) refuse("holds a multiple of ", others);
  missing = x.numel() / others;
  return Shape(known);
}

Tensor reshaped(const Tensor& x, const Shape& shape) {
  Tensor y = view(x, shape);
  record(reshape_info, reshape_backward, {&x}, {&y});
  return y;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  check_defined(reshape_info.name, x, "x");
  if (x.numel() != shape.numel())
    throw ShapeError(text("reshape: ", describe_operand("x", x), " has ", x.numel(), " elements and ", shape, " has ",
                          shape.numel(), "; the counts must be equal"));
  return reshaped(x, shape);
}

Tensor reshape(const Tensor& x, std::span<const std::int64_t> extents) {
  check_defined(reshape_info.name, x, "x");
  return reshape(x, inferred(x, extents));
}
Tensor reshape(const Tensor& x, std::initializer_list<std::int64_t> extents) {
  return reshape(x, std::span(extents.begin(), extents.size()));
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
