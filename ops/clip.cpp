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

/// Of two bounds that are whole or, outwards, infinite.
Tensor clip_integers(const Tensor& x, double low, double high) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [bound, none] : {std::pair(low, -infinity), std::pair(high, infinity)})
    if (bound != none && !Scalar(bound).is_i64())
      throw ValueError(text("clip: ", describe_operand("x", x), " is i64, which does not hold ", bound,
                            "; give whole numbers, or convert it with to(f32) or to(f64)"));
  const Tensor y = std::isinf(low) ? x : where(less(x, low), low, x);
  return std::isinf(high) ? y : where(greater(y, high), high, y);
}

}  // namespace

Tensor clip(const Tensor& x, double low, double high) {
  check_defined(Clip::info.name, x, "x");
  if (!(low <= high))
    throw ValueError(text("clip: ", describe_operand("x", x), " to the range from ", low, " to ", high,
                          ", which is empty; give low <= high"));
  return x.dtype() == i64 ? clip_integers(x, low, high) : unary<Clip>(x, {low, high});
}

}  // namespace retrace
