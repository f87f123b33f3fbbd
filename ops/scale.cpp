#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Scale {
  struct Attributes {
    double factor;
  };
  static Formulas formulas(const Record& r) {
    const std::string c = as_factor(r.attributes<Attributes>().factor);
    return {text("y = ", c, " x"), text("dx = ", c, " dy")};
  }
  static AttributeList attribute_list(const Record& r) { return {{"factor", r.attributes<Attributes>().factor}}; }
  static constexpr OpInfo info{"scale", "y = c x", "dx = c dy", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::nothing;

  template <class T> static T value(T x, const Attributes& c) { return static_cast<T>(c.factor) * x; }
  template <class T> static T slope(T, T, const Attributes& c) { return static_cast<T>(c.factor); }
};

}  // namespace

Tensor scale(const Tensor& x, double factor) { return unary<Scale>(x, {factor}); }

}  // namespace retrace
