#include <retrace/ops/ops.h>
#include <retrace/ops/unary.h>

namespace retrace {
namespace {

struct Shift {
  static constexpr OpInfo info{"shift", "y = x + c", "dx = dy", "x"};
  struct Attributes {
    double offset;
  };
  static constexpr Saves saves = Saves::nothing;
  static constexpr bool slope_is_one = true;

  template <class T>
  static T value(T x, const Attributes& c) {
    return x + static_cast<T>(c.offset);
  }
};

}  // namespace

Tensor shift(const Tensor& x, double offset) { return unary<Shift>(x, {offset}); }

}  // namespace retrace
