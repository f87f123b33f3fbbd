// logical_and, logical_or, logical_xor and logical_not of masks.
#include <retrace/ops/loops/compared.h>

namespace retrace {
namespace {

template <class Holds> Tensor combined(const char* function, const Tensor& a, const Tensor& b, const Holds& holds) {
  check_defined(function, a, "a");
  check_defined(function, b, "b");
  check_mask(function, "a", a);
  check_mask(function, "b", b);
  return compared(function, a, b, holds);
}

}  // namespace

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return combined("logical_and", a, b, [](auto p, auto q) { return p != 0 && q != 0; });
}
Tensor logical_or(const Tensor& a, const Tensor& b) {
  return combined("logical_or", a, b, [](auto p, auto q) { return p != 0 || q != 0; });
}
Tensor logical_xor(const Tensor& a, const Tensor& b) {
  return combined("logical_xor", a, b, [](auto p, auto q) { return (p != 0) != (q != 0); });
}
Tensor logical_not(const Tensor& x) {
  check_defined("logical_not", x, "x");
  check_mask("logical_not", "x", x);
  return equal(x, zeros({}, i64));
}

}  // namespace retrace
