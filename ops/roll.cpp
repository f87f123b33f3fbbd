#include <retrace/ops/op.h>

namespace retrace {

Tensor roll(const Tensor& x, std::int64_t shift, int axis) {
  check_defined("roll", x, "x");
  const int along = axis_of("roll", x, axis);
  const std::int64_t length = x.dim(along);
  if (length == 0 || shift % length == 0) return x;
  const std::int64_t first = (shift % length + length) % length;  // the place of element 0
  const Tensors parts = split(x, {length - first, first}, along);
  return concat({parts[1], parts[0]}, along);
}

}  // namespace retrace
