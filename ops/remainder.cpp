#include <retrace/ops/loops/binary.h>

namespace retrace {
namespace {

template <class T> struct FloorDivision { T quotient, remainder; };

/// a = quotient b + remainder. The quotient of fmod, which is exact, is towards zero; floor(a / b) could miss the step.
template <class T> FloorDivision<T> floor_division(T a, T b) {
  const T rest = std::fmod(a, b), quotient = std::round((a - rest) / b);
  if (rest != 0 && (rest < 0) != (b < 0)) return {quotient - 1, rest + b};
  return {quotient, rest};
}
FloorDivision<Dual> floor_division(Dual a, Dual b) {
  const auto [quotient, remainder] = floor_division(a.value, b.value);
  return {quotient, {remainder, a.tangent - quotient * b.tangent}};
}

struct Remainder {
  static constexpr OpInfo info{"remainder", "y = a - b floor(a / b)", "da = dy, db = -dy floor(a / b)", "a, b"};
  static constexpr Reads da_reads{.dy_itself = true}, db_reads{.a = true, .b = true};

  template <class T> static T value(T a, T b) { return floor_division(a, b).remainder; }
  template <class T> static T db(T dy, T a, T b, T) { return -dy * floor_division(a, b).quotient; }
};

}  // namespace

Tensor remainder(const Tensor& a, const Tensor& b) { return binary<Remainder>(a, b); }

}  // namespace retrace
