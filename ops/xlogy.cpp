#include <retrace/ops/loops/binary.h>

namespace retrace {
namespace {

/// ln b, and 0 where it has no effect on a ln b, whose limit is 0.
template <class T> T log_beside(T a, T b) { return a == 0 && b <= 0 ? T(0) : log(b); }

template <class T> T product_with_log(T a, T b) { return a == 0 && !isnan(b) ? T(0) : a * log(b); }
Dual product_with_log(Dual a, Dual b) {
  if (a == 0 && !isnan(b)) return chain(0, log_beside(a.value, b.value), a.tangent);
  return a * log(b);
}

struct Xlogy {
  static constexpr OpInfo info{"xlogy", "y = a ln b where a != 0, else 0", "da = dy ln b, db = dy a / b", "a, b"};
  static constexpr Reads da_reads{.a = true, .b = true}, db_reads{.a = true, .b = true};

  template <class T> static T value(T a, T b) { return product_with_log(a, b); }
  template <class T> static T da(T dy, T a, T b, T) { return dy * log_beside(a, b); }
  template <class T> static T db(T dy, T a, T b, T) { return a == 0 && b == 0 ? T(0) : dy * a / b; }
};

}  // namespace

Tensor xlogy(const Tensor& a, const Tensor& b) { return binary<Xlogy>(a, b); }

}  // namespace retrace
