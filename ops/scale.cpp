#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Scale {
  using Attributes = double;
  static Formulas formulas(const Record& r) {
    const std::string c = as_factor(r.attributes<double>());
    return {text("y = ", c, " x"), text("dx = ", c, " dy")};
  }
  static AttributeList attribute_list(const Record& r) { return {{"factor", r.attributes<double>()}}; }
  static constexpr OpInfo info{"scale", "y = c x", "dx = c dy", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::nothing;

  template <class T> static T value(T x, double factor) { return static_cast<T>(factor) * x; }
  template <class T> static T slope(T, T, double factor) { return static_cast<T>(factor); }
};

}  // namespace

Tensor scale(const Tensor& x, double factor) { return unary<Scale>(x, {factor}); }

}  // namespace retrace
