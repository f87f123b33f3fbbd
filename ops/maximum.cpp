// maximum and minimum: the larger and the smaller of two.
#include <retrace/ops/loops/binary.h>

namespace retrace {
namespace {

// Where a = b: either, and of the tangents half of each, as of the gradient.
template <class T> T tie(T a, T) { return a; }
Dual tie(Dual a, Dual b) { return {a.value, (a.tangent + b.tangent) / 2}; }
template <class T> T gradient_of_tie(T dy, T a, T b) { return dy * (T(0.5) + slope_at_kink(a - b)); }

struct Maximum {
  static constexpr OpInfo info{
      "maximum", "y = max(a, b)",
      "da = dy where a > b, dy / 2 where a = b, else 0, db = dy where b > a, dy / 2 where a = b, else 0", "a, b"};
  static constexpr Reads da_reads{.a = true, .b = true}, db_reads{.a = true, .b = true};
  static constexpr bool integers = true, sees_signs = true;

  template <class T> static T value(T a, T b) {
    if (a == b) return tie(a, b);
    return a > b || a != a ? a : b;  // a NaN in b makes both comparisons false
  }
  template <class T> static T da(T dy, T a, T b, T) { return a > b ? dy : a == b ? gradient_of_tie(dy, a, b) : T(0); }
  template <class T> static T db(T dy, T a, T b, T y) { return da(dy, b, a, y); }
};

struct Minimum {
  static constexpr OpInfo info{
      "minimum", "y = min(a, b)",
      "da = dy where a < b, dy / 2 where a = b, else 0, db = dy where b < a, dy / 2 where a = b, else 0", "a, b"};
  static constexpr Reads da_reads{.a = true, .b = true}, db_reads{.a = true, .b = true};
  static constexpr bool integers = true, sees_signs = true;

  template <class T> static T value(T a, T b) {
    if (a == b) return tie(a, b);
    return a < b || a != a ? a : b;
  }
  template <class T> static T da(T dy, T a, T b, T) { return a < b ? dy : a == b ? gradient_of_tie(dy, a, b) : T(0); }
  template <class T> static T db(T dy, T a, T b, T y) { return da(dy, b, a, y); }
};

}  // namespace

Tensor maximum(const Tensor& a, const Tensor& b) { return binary<Maximum>(a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return binary<Minimum>(a, b); }

}  // namespace retrace
