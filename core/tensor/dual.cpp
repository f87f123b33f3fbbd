#include <retrace/core/tensor/dual.h>
#include <retrace/core/tensor/jitter.h>

#include <limits>
#include <utility>

namespace retrace {
namespace {

thread_local constinit std::uint64_t state = 1;

// xorshift64 (Marsaglia, 2003).
double changed_in_last_place(double x) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  const double unit = static_cast<double>(state >> 11) * 0x1p-52 - 1;  // in [-1, 1)
  return x * (1 + unit * std::numeric_limits<double>::epsilon());
}

double sum(double a, double b) {
  const double result = a + b, of_b = result - a;
  const double error = (a - (result - of_b)) + (b - of_b);
  return error == 0 ? result : changed_in_last_place(result);
}

// long double has more digits, which tell whether any were lost but for those that nobody would miss.
double product(double a, double b) {
  const double result = a * b;
  return static_cast<long double>(a) * b == result ? result : changed_in_last_place(result);
}

double quotient(double a, double b) {
  const double result = a / b;
  return static_cast<long double>(result) * b == a ? result : changed_in_last_place(result);
}

Dual jittered_sum(Dual a, Dual b) { return {sum(a.value, b.value), sum(a.tangent, b.tangent)}; }

Dual jittered_product(Dual a, Dual b) {
  return {product(a.value, b.value), sum(product(a.tangent, b.value), product(a.value, b.tangent))};
}

Dual jittered_quotient(Dual a, Dual b) {
  const double q = quotient(a.value, b.value);
  return {q, quotient(sum(a.tangent, -product(q, b.tangent)), b.value)};
}

}  // namespace

thread_local constinit bool detail::jitters = false;

JitterScope::JitterScope(std::uint64_t seed) : outer_(std::exchange(detail::jitters, true)) { state = 2 * seed + 1; }

Dual& Dual::operator+=(Dual b) {
  return *this = detail::jitters ? jittered_sum(*this, b) : Dual(value + b.value, tangent + b.tangent);
}

Dual& Dual::operator-=(Dual b) {
  return *this = detail::jitters ? jittered_sum(*this, -b) : Dual(value - b.value, tangent - b.tangent);
}

Dual& Dual::operator*=(Dual b) {
  return *this = detail::jitters ? jittered_product(*this, b)
                                 : Dual(value * b.value, tangent * b.value + value * b.tangent);
}

Dual& Dual::operator/=(Dual b) {
  if (detail::jitters) return *this = jittered_quotient(*this, b);
  const double q = value / b.value;
  return *this = Dual(q, (tangent - q * b.tangent) / b.value);
}

}  // namespace retrace
