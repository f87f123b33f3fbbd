#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Clip {
  struct Attributes {
    double low;
    double high;
  };
  static Formulas formulas(const Record& r) {
    const auto [low, high] = r.attributes<Attributes>();
    return {text("y = min(max(x, ", low, "), ", high, ")"), text("dx = dy where ", low, " < x < ", high, ", else 0")};
  }
  static AttributeList attribute_list(const Record& r) {
    const auto [low, high] = r.attributes<Attributes>();
    return {{"low", low}, {"high", high}};
  }
  static constexpr OpInfo info{
      "clip", "y = min(max(x, low), high)", "dx = dy where low < x < high, else 0", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, const Attributes& to) {
    const T low = static_cast<T>(to.low);
    const T high = static_cast<T>(to.high);
    return x <= low ? low : x >= high ? high : x;  // NaN is neither
  }
  template <class T> static T slope(T x, T, const Attributes& to) {
    return x > static_cast<T>(to.low) && x < static_cast<T>(to.high) ? T(1) : T(0);
  }
};

}  // namespace

Tensor clip(const Tensor& x, double low, double high) {
  check_defined(Clip::info.name, x, "x");
  if (!(low <= high))
    throw ValueError(text("clip: ", describe_operand("x", x), " to the range from ", low, " to ", high,
                          ", which is empty; give low <= high"));
  return unary<Clip>(x, {low, high});
}

}  // namespace retrace
