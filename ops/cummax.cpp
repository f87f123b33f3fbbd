// cummax and cummin: positions, which are not recorded, and the elements there by gather.
#include <retrace/ops/loops/lines.h>

namespace retrace {
namespace {

/// For each element, the position of the best one of its line so far, the last of equal ones. NaN is best.
template <class Better>
SortResult best_so_far(const char* function, const Tensor& x, int axis, const Better& is_as_good) {
  check_defined(function, x, "x");
  const int along = axis_of(function, x, axis);
  const Tensor positions = empty(x.shape(), i64, function);
  dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    std::int64_t* to = OpAccess::values<std::int64_t>(positions);
    const Lines lines(x.shape(), along);
    lines.for_each([=](std::int64_t start) {
      for (std::int64_t k = 0, best = 0; k < lines.length; ++k) {
        const T here = from[start + k * lines.stride], so_far = from[start + best * lines.stride];
        if (isnan(here) || (!isnan(so_far) && is_as_good(here, so_far))) best = k;
        to[start + k * lines.stride] = best;
      }
    });
  });
  return {gather(x, positions, along), positions};
}

}  // namespace

SortResult cummax(const Tensor& x, int axis) {
  return best_so_far("cummax", x, axis, [](auto p, auto q) { return p >= q; });
}
SortResult cummin(const Tensor& x, int axis) {
  return best_so_far("cummin", x, axis, [](auto p, auto q) { return p <= q; });
}

}  // namespace retrace
