#include <retrace/ops/operands.h>
#include <retrace/ops/ops.h>
#include <retrace/ops/strided.h>

namespace retrace {
namespace {

constexpr OpInfo info{"flip", "y_k = x_(n-1-k) along an axis", "dx_k = dy_(n-1-k)", "x"};

}  // namespace

Tensor flip(const Tensor& x, int axis) {
  const int along = axis_of(info.name, x, axis);
  const std::size_t at = static_cast<std::size_t>(along);
  Strided strided{0, x.shape().strides()};
  strided.offset = (x.dim(along) - 1) * strided.strides[at];
  strided.strides[at] = -strided.strides[at];
  return strided_copy(info, reordered_backward, x, x.shape(), strided);
}

}  // namespace retrace
  check_defined(info.name, x, "x");
