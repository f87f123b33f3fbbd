#include <retrace/ops/loops/repetitions.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

Formulas broadcast_to_formulas(const Record& r) {
  const Shape &x = r.in(0).shape, &y = r.out(0).shape;
  std::array<bool, max_rank> repeated{};
  bool any = false;
  for (int axis = 0; axis < y.rank(); ++axis) {
    const int in_x = axis - (y.rank() - x.rank());
    repeated[static_cast<std::size_t>(axis)] = in_x < 0 || x[in_x] != y[axis];
    any = any || repeated[static_cast<std::size_t>(axis)];
  }
  return {text("y = broadcast(x, ", y, ")"), any ? "dx = sum dy" + along_axes(repeated, y.rank()) : "dx = dy"};
}
AttributeList broadcast_to_attributes(const Record& r) {
  const Shape& y = r.out(0).shape;
  return {{"shape", std::vector(y.begin(), y.end())}};
}
constexpr OpInfo broadcast_to_info{
    "broadcast_to",        "y = broadcast(x, shape)", "dx = sum dy along the repeated axes", "x",
    broadcast_to_formulas, broadcast_to_attributes};
constexpr std::int64_t broadcast_grain = 16384;

template <class T> void repeat(const Broadcast& broadcast, std::int64_t count, const T* x, T* y) {
  const std::int64_t stride = broadcast.stands_still(0) ? 0 : 1;
  parallel_for(count, broadcast_grain, [&](std::int64_t begin, std::int64_t end) {
    for_each_row(broadcast, begin, end, [=](const BroadcastRow& row) {
      for (std::int64_t k = 0; k < row.count; ++k) y[row.first + k] = x[row.offsets[0] + k * stride];
    });
  });
}

void broadcast_to_backward(Record& r) {
  dispatch_real(r.in(0).dtype, broadcast_to_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    add_repetitions(r.out(0).shape, dy, r.in(0).shape, r.grad_in<T>(0, Begin::zeroed).values);
  });
}

bool fits_into(const Shape& x, const Shape& shape) {
  if (x.rank() > shape.rank()) return false;
  for (int axis = -1; axis >= -x.rank(); --axis)
    if (x[axis] != 1 && x[axis] != shape[axis]) return false;
  return true;
}

}  // namespace

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  check_defined(broadcast_to_info.name, x, "x");
  if (!fits_into(x.shape(), shape))
    throw ShapeError(text("broadcast_to: ", describe_operand("x", x), " does not fit into ", shape,
                          "; only axes of length 1 are repeated"));
  Tensor y = empty(shape, x.dtype(), broadcast_to_info.name);
  dispatch_any(x.dtype(), [&]<class T>(T) {
    repeat(Broadcast(shape, {&x.shape()}), shape.numel(), x.values<T>().data(), OpAccess::values<T>(y));
  });
  record(broadcast_to_info, broadcast_to_backward, {&x}, {&y});
  return y;
}

}  // namespace retrace
