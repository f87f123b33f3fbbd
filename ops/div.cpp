#include <retrace/ops/loops/binary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Div {
  static constexpr OpInfo info{"div", "y = a / b", "da = dy / b, db = -dy y / b", "a, b"};
  static constexpr Reads da_reads{.b = true}, db_reads{.b = true, .y = true};

  template <class T> static T value(T a, T b) { return a / b; }
  template <class T> static T da(T dy, T, T b, T) { return dy / b; }
  template <class T> static T db(T dy, T, T b, T y) { return -dy * y / b; }
};

}  // namespace

Tensor div(const Tensor& a, const Tensor& b) { return binary<Div>(a, b); }

}  // namespace retrace
