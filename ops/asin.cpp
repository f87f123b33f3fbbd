// asin and acos: the angles whose sine and cosine are x.
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Asin {
  static constexpr OpInfo info{"asin", "y = asin(x)", "dx = dy / sqrt(1 - x^2)", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return asin(x); }
  template <class T> static T slope(T x, T) { return 1 / sqrt((1 - x) * (1 + x)); }
};

struct Acos {
  static constexpr OpInfo info{"acos", "y = acos(x)", "dx = -dy / sqrt(1 - x^2)", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return acos(x); }
  template <class T> static T slope(T x, T) { return -1 / sqrt((1 - x) * (1 + x)); }
};

}  // namespace

Tensor asin(const Tensor& x) { return unary<Asin>(x); }
Tensor acos(const Tensor& x) { return unary<Acos>(x); }

}  // namespace retrace
