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

template <class T> T remainder_of(T a, T b) { return floor_division(a, b).remainder; }
std::int64_t remainder_of(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = b == -1 ? 0 : a % b;  // the quotient of the lowest integer and -1 overflows
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

struct Remainder {
  static constexpr OpInfo info{"remainder", "y = a - b floor(a / b)", "da = dy, db = -dy floor(a / b)", "a, b"};
  static constexpr Reads da_reads{.dy_itself = true}, db_reads{.a = true, .b = true};
  static constexpr bool integers = true, sees_signs = true;

  template <class T> static T value(T a, T b) { return remainder_of(a, b); }
  template <class T> static T db(T dy, T a, T b, T) { return -dy * floor_division(a, b).quotient; }
};

}  // namespace

Tensor remainder(const Tensor& a, const Tensor& b) {
  check_defined(Remainder::info.name, {{&a, "a"}, {&b, "b"}});
  const auto has_zero = [](const auto& integers) { return std::count(integers.begin(), integers.end(), 0) > 0; };
  if (a.dtype() == i64 && b.dtype() == i64 && has_zero(b.values<std::int64_t>()))
    throw ValueError(text("remainder: ", describe_operand("b", b),
                          " is i64 and holds 0, which divides no integer; replace it, or convert both with to(f64)"));
  return binary<Remainder>(a, b);
}

}  // namespace retrace
