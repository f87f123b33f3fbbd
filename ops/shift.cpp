#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Shift {
  using Attributes = double;
  static Formulas formulas(const Record& r) {
    const double c = r.attributes<double>();
    return {c < 0 ? text("y = x - ", -c) : text("y = x + ", c), "dx = dy"};
  }
  static AttributeList attribute_list(const Record& r) { return {{"offset", r.attributes<double>()}}; }
  static constexpr OpInfo info{"shift", "y = x + c", "dx = dy", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::nothing;
  static constexpr bool slope_is_one = true;

  template <class T> static T value(T x, double offset) { return x + static_cast<T>(offset); }
};

}  // namespace

Tensor shift(const Tensor& x, double offset) { return unary<Shift>(x, {offset}); }

}  // namespace retrace
