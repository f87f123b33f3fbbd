// floor, ceil and round: steps, whose derivative is 0 wherever there is one.
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Step {
  static constexpr Saves saves = Saves::nothing;
  static constexpr bool slope_is_zero = true;
};

// By doubles, which hold every float: a dual number loses its tangent.
struct Floor : Step {
  static constexpr OpInfo info{"floor", "y = floor(x)", "dx = 0", "x"};
  template <class T> static T value(T x) { return static_cast<T>(std::floor(static_cast<double>(x))); }
};
struct Ceil : Step {
  static constexpr OpInfo info{"ceil", "y = ceil(x)", "dx = 0", "x"};
  template <class T> static T value(T x) { return static_cast<T>(std::ceil(static_cast<double>(x))); }
};
struct Round : Step {
  static constexpr OpInfo info{"round", "y = round(x)", "dx = 0", "x"};
  template <class T> static T value(T x) { return static_cast<T>(std::nearbyint(static_cast<double>(x))); }
};

}  // namespace

Tensor floor(const Tensor& x) { return unary<Floor>(x); }
Tensor ceil(const Tensor& x) { return unary<Ceil>(x); }
Tensor round(const Tensor& x) { return unary<Round>(x); }

}  // namespace retrace
