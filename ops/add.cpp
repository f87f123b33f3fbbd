#include <retrace/ops/loops/binary.h>
#include <retrace/ops/loops/integers.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Add {
  static constexpr OpInfo info{"add", "y = a + b", "da = dy, db = dy", "a, b"};
  static constexpr Reads da_reads{.dy_itself = true}, db_reads{.dy_itself = true};
  static constexpr bool integers = true;

  template <class T> static T value(T a, T b) { return wrapping_add(a, b); }
};

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) { return binary<Add>(a, b); }

}  // namespace retrace
