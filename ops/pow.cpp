#include <retrace/ops/loops/binary.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

/// x^p, where x^0 = 1 has slope 0 in x even at x = 0, and a NaN stays one.
template <class T> T power(T x, T p) {
  if (x != x || p != p) return x + p;
  if constexpr (std::is_same_v<T, Dual>)
    if (p == 0) x.tangent = 0;
  return pow(x, p);
}

struct PowScalar {
  using Attributes = double;
  static Formulas formulas(const Record& r) {
    const double p = r.attributes<double>();
    return {text("y = x^", as_factor(p)), text("dx = dy ", as_factor(p), " x^", as_factor(p - 1))};
  }
  static AttributeList attribute_list(const Record& r) { return {{"exponent", r.attributes<double>()}}; }
  static constexpr OpInfo info{"pow", "y = x^p", "dx = dy p x^(p - 1)", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, double exponent) { return power(x, static_cast<T>(exponent)); }
  template <class T> static T slope(T x, T, double exponent) {
    if (exponent == 0) return T(0);
    return static_cast<T>(exponent) * power(x, static_cast<T>(exponent - 1));
  }
};

struct Pow {
  static constexpr OpInfo info{"pow", "y = a^b", "da = dy b a^(b - 1), db = dy y ln a", "a, b"};
  static constexpr Reads da_reads{.a = true, .b = true}, db_reads{.a = true, .y = true};

  template <class T> static T value(T a, T b) { return power(a, b); }
  template <class T> static T da(T dy, T a, T b, T) { return b == 0 ? T(0) : dy * b * power(a, b - 1); }
  template <class T> static T db(T dy, T a, T, T y) {
    return y == 0 ? slope_at_kink(y) : dy * y * log(a);  // y ln a tends to 0 with y, its slope in a need not
  }
};

}  // namespace

Tensor pow(const Tensor& x, double exponent) { return unary<PowScalar>(x, {exponent}); }
Tensor pow(const Tensor& a, const Tensor& b) { return binary<Pow>(a, b); }

}  // namespace retrace
