// argmax and argmin.
#include <retrace/ops/loops/lines.h>

namespace retrace {
namespace {

/// The position of the first element of each line that is better than all before it; NaN is better than any number.
template <class Better>
Tensor first_best(const char* function, const char* what, const Tensor& x, int axis, const Better& better) {
  check_defined(function, x, "x");
  const int along = axis_of(function, x, axis);
  if (x.dim(along) == 0)
    throw ShapeError(text(function, ": axis ", along, " of ", describe_operand("x", x), " is empty and has no ", what,
                          " element; choose another axis"));
  Tensor y;
  dispatch_any(x.dtype(), [&]<class T>(T) {
    y = empty(x.shape().erased(along), i64);
    const T* from = x.values<T>().data();
    std::int64_t* to = OpAccess::values<std::int64_t>(y);
    const Lines lines(x.shape(), along);
    for (std::int64_t line = 0; line < lines.count; ++line) {
      const T* first = from + lines.start(line);
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < lines.length; ++k) {
        const T candidate = first[k * lines.stride], so_far = first[best * lines.stride];
        if (!isnan(so_far) && (isnan(candidate) || better(candidate, so_far))) best = k;
      }
      to[line] = best;
    }
  });
  return y;
}

}  // namespace

Tensor argmax(const Tensor& x, int axis) {
  return first_best("argmax", "largest", x, axis, [](auto p, auto q) { return p > q; });
}
Tensor argmin(const Tensor& x, int axis) {
  return first_best("argmin", "smallest", x, axis, [](auto p, auto q) { return p < q; });
}

}  // namespace retrace
