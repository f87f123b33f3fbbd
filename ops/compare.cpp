// equal, not_equal, less, less_equal, greater and greater_equal.
#include <functional>

#include <retrace/ops/loops/compared.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

// The number is rounded to the dtype of a; an i64 tensor is compared as f64, for the number may have a fraction.
template <class Holds>
Tensor compared_with_number(const char* function, const Tensor& a, double b, const Holds& holds) {
  check_defined(function, a, "a");
  if (a.dtype() == i64) return compared(function, a.to(f64), full({}, b, f64), holds);
  return compared(function, a, full({}, b, a.dtype()), holds);
}

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) { return compared("equal", a, b, std::equal_to<>()); }
Tensor equal(const Tensor& a, double b) { return compared_with_number("equal", a, b, std::equal_to<>()); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return compared("not_equal", a, b, std::not_equal_to<>()); }
Tensor not_equal(const Tensor& a, double b) { return compared_with_number("not_equal", a, b, std::not_equal_to<>()); }
Tensor less(const Tensor& a, const Tensor& b) { return compared("less", a, b, std::less<>()); }
Tensor less(const Tensor& a, double b) { return compared_with_number("less", a, b, std::less<>()); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return compared("less_equal", a, b, std::less_equal<>()); }
Tensor less_equal(const Tensor& a, double b) { return compared_with_number("less_equal", a, b, std::less_equal<>()); }
Tensor greater(const Tensor& a, const Tensor& b) { return compared("greater", a, b, std::greater<>()); }
Tensor greater(const Tensor& a, double b) { return compared_with_number("greater", a, b, std::greater<>()); }
Tensor greater_equal(const Tensor& a, const Tensor& b) {
  return compared("greater_equal", a, b, std::greater_equal<>());
}
Tensor greater_equal(const Tensor& a, double b) {
  return compared_with_number("greater_equal", a, b, std::greater_equal<>());
}

}  // namespace retrace
