// count_nonzero, any_nonzero and all_nonzero.
#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// How many elements along the axes are 0 or, if `zeros` is false, are not.
Tensor count_along(const char* function, bool zeros, const Tensor& x, const Axes& axes, ReduceOptions options) {
  check_defined(function, x, "x");
  axes.flags(x, function);
  return sum(zeros ? equal(x, 0) : not_equal(x, 0), axes, options);
}

}  // namespace

Tensor count_nonzero(const Tensor& x, const Axes& axes, ReduceOptions options) {
  return count_along("count_nonzero", false, x, axes, options);
}
Tensor any_nonzero(const Tensor& x, const Axes& axes, ReduceOptions options) {
  return not_equal(count_along("any_nonzero", false, x, axes, options), 0);
}
Tensor all_nonzero(const Tensor& x, const Axes& axes, ReduceOptions options) {
  return equal(count_along("all_nonzero", true, x, axes, options), 0);
}

}  // namespace retrace
