// atan, and atan2, which knows the quadrant.
#include <retrace/ops/loops/binary.h>

namespace retrace {
namespace {

struct Atan {
  static constexpr OpInfo info{"atan", "y = atan(x)", "dx = dy / (1 + x^2)", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return atan(x); }
  template <class T> static T slope(T x, T) { return 1 / (1 + x * x); }
};

/// dy/da and dy/db of the angle y of the point (b, a), by the ratio of the shorter side to the longer one, whose square
/// does not overflow.
template <class T> std::pair<T, T> slopes_of_angle(T a, T b) {
  if (a == 0 && b == 0) return {slope_at_kink(a) + slope_at_kink(b), slope_at_kink(a) + slope_at_kink(b)};
  if (abs(a) > abs(b)) {
    const T ratio = b / a, by_b = -1 / (a * (1 + ratio * ratio));
    return {-ratio * by_b, by_b};
  }
  const T ratio = a / b, by_a = 1 / (b * (1 + ratio * ratio));
  return {by_a, -ratio * by_a};
}

template <class T> T angle_of_point(T a, T b) { return atan2(a, b); }
Dual angle_of_point(Dual a, Dual b) {
  const auto [by_a, by_b] = slopes_of_angle(a.value, b.value);
  return {atan2(a.value, b.value), by_a * a.tangent + by_b * b.tangent};
}

struct Atan2 {
  static constexpr OpInfo info{"atan2", "y = atan2(a, b)", "da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2)", "a, b"};
  static constexpr Reads da_reads{.a = true, .b = true}, db_reads{.a = true, .b = true};

  template <class T> static T value(T a, T b) { return angle_of_point(a, b); }
  template <class T> static T da(T dy, T a, T b, T) { return dy * slopes_of_angle(a, b).first; }
  template <class T> static T db(T dy, T a, T b, T) { return dy * slopes_of_angle(a, b).second; }
};

}  // namespace

Tensor atan(const Tensor& x) { return unary<Atan>(x); }
Tensor atan2(const Tensor& a, const Tensor& b) { return binary<Atan2>(a, b); }

}  // namespace retrace
