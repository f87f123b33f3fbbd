#include <cmath>

#include <retrace/ops/loops/lines.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {

Tensor argmax(const Tensor& x, int axis) {
  check_defined("argmax", x, "x");
  const int along = axis_of("argmax", x, axis);
  if (x.dim(along) == 0)
    throw ShapeError(text("argmax: axis ", along, " of ", describe_operand("x", x),
                          " is empty and has no largest element; choose another axis"));
  Tensor y;
  dispatch_real(x, "x", "argmax", [&](auto zero) {
    using T = decltype(zero);
    using std::isnan;
    y = empty(x.shape().erased(along), i64);
    const T* from = x.values<T>().data();
    std::int64_t* to = y.mutable_values<std::int64_t>().data();
    const Lines lines(x.shape(), along);
    for (std::int64_t line = 0; line < lines.count; ++line) {
      const T* first = from + lines.start(line);
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < lines.length; ++k) {
        const T candidate = first[k * lines.stride], so_far = first[best * lines.stride];
        if (!isnan(so_far) && (isnan(candidate) || candidate > so_far)) best = k;
      }
      to[line] = best;
    }
  });
  return y;
}

}  // namespace retrace
