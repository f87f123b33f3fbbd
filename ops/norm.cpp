#include <retrace/ops/loops/reduction.h>
#include <retrace/ops/loops/rescaled.h>

namespace retrace {
namespace {

struct Norm {
  static Formulas formulas(const Record& r) { return {"y = sqrt(sum x^2)" + along_reduced(r), "dx = dy x / y"}; }
  static constexpr OpInfo info{"norm", "y = sqrt(sum x^2)", "dx = dy x / y", "x", formulas, reduction_attributes};
  static constexpr bool needs_elements = false;

  template <class T> static T value(const Terms<T>& x) {
    const Wide<T> squares = x.sum([](auto element) { return element * element; });
    if (keeps_digits(squares)) return static_cast<T>(sqrt(squares));
    const PowerOfTwo scale = to_unit_size(largest_of(x));
    return static_cast<T>(scale.into(sqrt(x.sum([=](auto element) {
      const Wide<T> scaled = scale.times(element);
      return scaled * scaled;
    }))));
  }
  template <class T> static NoContext context(const Terms<T>&, T) { return {}; }
  template <class T> static T slope(T x, T y, NoContext) { return y == T(0) ? slope_at_kink(x) : x / y; }
};

/// The norm of an order p other than 0, 1, 2 and the infinities.
struct NormOfOrder {
  static Formulas formulas(const Record& r) {
    const double p = r.attributes<ReductionAttributes>().constant;
    return {text("y = (sum |x|^", as_factor(p), ")^(1 / ", as_factor(p), ")", along_reduced(r)),
            text("dx = dy sign(x) (|x| / y)^", as_factor(p - 1))};
  }
  static AttributeList attribute_list(const Record& r) {
    AttributeList list = reduction_attributes(r);
    list.push_back({"order", r.attributes<ReductionAttributes>().constant});
    return list;
  }
  static constexpr OpInfo info{
      "norm", "y = (sum |x|^p)^(1 / p)", "dx = dy sign(x) (|x| / y)^(p - 1)", "x", formulas, attribute_list};
  static constexpr bool needs_elements = false;

  /// The |x| whose power is the largest: powers of the ratios to it do not overflow.
  template <class T> static double leading(const Terms<T>& x, double order) {
    if (order > 0) return largest_of(x);
    double smallest = std::numeric_limits<double>::infinity();
    x.for_each([&](std::int64_t k) { smallest = std::min(smallest, std::abs(static_cast<double>(x.x[k]))); });
    return smallest;
  }
  template <class T> static T value(const Terms<T>& x, double order) {
    const double most = leading(x, order);
    const auto unit = static_cast<Wide<T>>(most > 0 && std::isfinite(most) ? most : 1), p = static_cast<Wide<T>>(order);
    const Wide<T> powers = x.sum([=](Wide<T> element) { return pow(abs(element) / unit, p); });
    return static_cast<T>(unit * pow(powers, 1 / p));
  }
  template <class T> static double context(const Terms<T>&, T, double order) { return order; }
  template <class T> static T slope(T x, T y, double order) {
    if (y == T(0)) return slope_at_kink(x);
    if (x == T(0)) return order > 2 ? T(0) : slope_at_kink(x);
    const T size = pow(abs(x) / y, static_cast<T>(order - 1));
    return x < T(0) ? -size : size;
  }
};

}  // namespace

Tensor norm(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Norm>(x, axes, options); }

Tensor norm(const Tensor& x, const Axes& axes, ReduceOptions options, double order) {
  if (order == 2) return norm(x, axes, options);
  check_defined(Norm::info.name, x, "x");
  check_real(Norm::info.name, x);
  const ReductionLoops loops(x.shape(), axes.flags(x, Norm::info.name));
  if (std::isnan(order)) throw ValueError(text("norm: ", describe_operand("x", x), " with order nan; give a number"));
  if (order == 0) return sum(abs(sign(x)), axes, options);
  if (order == 1) return sum(abs(x), axes, options);
  if (std::isfinite(order)) return reduce<NormOfOrder>(x, axes, options, order);
  check_elements(Norm::info.name, x, loops);
  return order > 0 ? max(abs(x), axes, options) : min(abs(x), axes, options);
}

}  // namespace retrace
