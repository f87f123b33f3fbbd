#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Abs {
  static constexpr OpInfo info{"abs", "y = |x|", "dx = dy sign(x)", "x"};
  static constexpr Saves saves = Saves::x;
  static constexpr bool integers = true, sees_signs = true;

  template <class T> static T value(T x) {
    if constexpr (std::is_integral_v<T>)
      return x < 0 ? static_cast<T>(-static_cast<Modular<T>>(x)) : x;  // the lowest one stays
    else
      return abs(x);
  }
  template <class T> static T slope(T x, T) { return x > 0 ? T(1) : x < 0 ? T(-1) : slope_at_kink(x); }
};

}  // namespace

Tensor abs(const Tensor& x) { return unary<Abs>(x); }

}  // namespace retrace
