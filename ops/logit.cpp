#include <optional>

#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Logit {
  using Attributes = std::optional<double>;  // eps
  static Formulas formulas(const Record& r) {
    const Attributes& eps = r.attributes<Attributes>();
    if (!eps) return {info.forward, info.backward};
    return {text("z = min(max(x, ", *eps, "), ", 1 - *eps, "), y = ln(z / (1 - z))"),
            text("dx = dy / (x (1 - x)) where ", *eps, " <= x <= ", 1 - *eps, ", else 0")};
  }
  static AttributeList attribute_list(const Record& r) {
    const Attributes& eps = r.attributes<Attributes>();
    return eps ? AttributeList{{"eps", *eps}} : AttributeList{};
  }
  static constexpr OpInfo info{"logit", "y = ln(x / (1 - x))", "dx = dy / (x (1 - x))", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::x;

  /// x, or the end of [eps, 1 - eps] that it is beyond. Without eps, NaN outside of [0, 1].
  template <class T> static T clipped(T x, const Attributes& eps) {
    const T low = static_cast<T>(eps.value_or(0)), high = 1 - low;
    if (!(x < low || x > high)) return x;
    return eps ? (x < low ? low : high) : x * T(std::numeric_limits<double>::quiet_NaN());
  }
  template <class T> static T value(T x, const Attributes& eps) {
    const T z = clipped(x, eps);
    // Near 1/2, where ln z and ln(1 - z) cancel, 2 z - 1 is exact.
    return abs(z - T(0.5)) < T(0.25) ? log1p((2 * z - 1) / (1 - z)) : log(z) - log1p(-z);
  }
  template <class T> static T slope(T x, T, const Attributes& eps) {
    const T z = clipped(x, eps);
    return x < z || x > z ? T(0) : 1 / (z * (1 - z));
  }
};

}  // namespace

Tensor logit(const Tensor& x, std::optional<double> eps) {
  check_defined(Logit::info.name, x, "x");
  if (eps && !(*eps >= 0 && *eps <= 0.5))
    throw ValueError(text("logit: ", describe_operand("x", x), " with eps ", *eps, "; give 0 to 0.5"));
  return unary<Logit>(x, eps);
}

}  // namespace retrace
