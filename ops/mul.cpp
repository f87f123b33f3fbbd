#include <retrace/ops/loops/binary.h>

namespace retrace {
namespace {

struct Mul {
  static constexpr OpInfo info{"mul", "y = a b", "da = dy b, db = dy a", "a, b"};
  static constexpr Reads da_reads{.b = true}, db_reads{.a = true};
  static constexpr bool integers = true;

  template <class T> static T value(T a, T b) { return a * b; }
  template <class T> static T da(T dy, T, T b, T) { return dy * b; }
  template <class T> static T db(T dy, T a, T, T) { return dy * a; }
};

}  // namespace

Tensor mul(const Tensor& a, const Tensor& b) { return binary<Mul>(a, b); }

}  // namespace retrace
