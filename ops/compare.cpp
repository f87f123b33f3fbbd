// equal, not_equal, less, less_equal, greater and greater_equal.
#include <functional>

#include <retrace/ops/loops/compared.h>

namespace retrace {
namespace {

/// A number that is no i64 has a fraction, and so a size below 2^53, where f64 holds all integers, or is beyond all of
/// them: an infinity then stands for it.
double beside_integers(double b) {
  constexpr double limit = 0x1p63, infinity = std::numeric_limits<double>::infinity();
  return b >= limit ? infinity : b < -limit ? -infinity : b;
}

template <class Holds>
Tensor compared_with_number(const char* function, const Tensor& a, const Scalar& b, const Holds& holds) {
  check_defined(function, a, "a");
  if (a.dtype() == i64 && !b.is_i64())
    return compared(function, a.to(f64), full({}, beside_integers(b.real()), f64), holds);
  return compared(function, a, full({}, b, a.dtype()), holds);
}

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) { return compared("equal", a, b, std::equal_to<>()); }
Tensor equal(const Tensor& a, Scalar b) { return compared_with_number("equal", a, b, std::equal_to<>()); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return compared("not_equal", a, b, std::not_equal_to<>()); }
Tensor not_equal(const Tensor& a, Scalar b) { return compared_with_number("not_equal", a, b, std::not_equal_to<>()); }
Tensor less(const Tensor& a, const Tensor& b) { return compared("less", a, b, std::less<>()); }
Tensor less(const Tensor& a, Scalar b) { return compared_with_number("less", a, b, std::less<>()); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return compared("less_equal", a, b, std::less_equal<>()); }
Tensor less_equal(const Tensor& a, Scalar b) { return compared_with_number("less_equal", a, b, std::less_equal<>()); }
Tensor greater(const Tensor& a, const Tensor& b) { return compared("greater", a, b, std::greater<>()); }
Tensor greater(const Tensor& a, Scalar b) { return compared_with_number("greater", a, b, std::greater<>()); }
Tensor greater_equal(const Tensor& a, const Tensor& b) {
  return compared("greater_equal", a, b, std::greater_equal<>());
}
Tensor greater_equal(const Tensor& a, Scalar b) {
  return compared_with_number("greater_equal", a, b, std::greater_equal<>());
}

}  // namespace retrace
