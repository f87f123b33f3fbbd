#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Shift {
  struct Attributes {
    double offset;
  };
  static Formulas formulas(const Record& r) {
    const double c = r.attributes<Attributes>().offset;
    return {c < 0 ? text("y = x - ", -c) : text("y = x + ", c), "dx = dy"};
  }
  static AttributeList attribute_list(const Record& r) { return {{"offset", r.attributes<Attributes>().offset}}; }
  static constexpr OpInfo info{"shift", "y = x + c", "dx = dy", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::nothing;
  static constexpr bool slope_is_one = true;

  template <class T> static T value(T x, const Attributes& c) { return x + static_cast<T>(c.offset); }
};

}  // namespace

Tensor shift(const Tensor& x, double offset) { return unary<Shift>(x, {offset}); }

}  // namespace retrace
