#include <retrace/ops/op.h>

namespace retrace {
namespace {

Tensor flat(const Tensor& x, const Shape& shape) {
  return reshape(x.shape() == shape ? x : broadcast_to(x, shape), {shape.numel()});
}

}  // namespace

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  check_defined("masked_select", x, "x");
  check_defined("masked_select", mask, "mask");
  check_mask("masked_select", "mask", mask);
  const Shape shape = broadcast_shapes(x.shape(), mask.shape(), "masked_select", "x", "mask");
  const Tensor positions = nonzero(flat(mask, shape));
  return take(flat(x, shape), reshape(positions, {positions.dim(0)}));
}

}  // namespace retrace
