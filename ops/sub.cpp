#include <retrace/ops/loops/binary.h>

namespace retrace {
namespace {

struct Sub {
  static constexpr OpInfo info{"sub", "y = a - b", "da = dy, db = -dy", "a, b"};
  static constexpr Reads da_reads{.dy_itself = true}, db_reads{};
  static constexpr bool integers = true;

  template <class T> static T value(T a, T b) { return a - b; }
  template <class T> static T db(T dy, T, T, T) { return -dy; }
};

}  // namespace

Tensor sub(const Tensor& a, const Tensor& b) { return binary<Sub>(a, b); }

}  // namespace retrace
