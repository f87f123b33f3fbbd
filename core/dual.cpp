#include <retrace/core/dual.h>
#include <retrace/core/jitter.h>

namespace retrace {

Dual& Dual::operator+=(Dual b) {
  return *this = detail::jitters ? detail::jittered_sum(*this, b) : Dual(value + b.value, tangent + b.tangent);
}

Dual& Dual::operator-=(Dual b) {
  return *this = detail::jitters ? detail::jittered_sum(*this, -b) : Dual(value - b.value, tangent - b.tangent);
}

Dual& Dual::operator*=(Dual b) {
  return *this = detail::jitters ? detail::jittered_product(*this, b)
                                 : Dual(value * b.value, tangent * b.value + value * b.tangent);
}

Dual& Dual::operator/=(Dual b) {
  if (detail::jitters) return *this = detail::jittered_quotient(*this, b);
  const double q = value / b.value;
  return *this = Dual(q, (tangent - q * b.tangent) / b.value);
}

}  // namespace retrace
