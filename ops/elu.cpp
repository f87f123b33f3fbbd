// elu and selu.
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Elu {
  using Attributes = double;
  static Formulas formulas(const Record& r) {
    const std::string alpha = as_factor(r.attributes<double>());
    return {text("y = x where x > 0, else ", alpha, " (e^x - 1)"),
            text("dx = dy where x > 0, else dy ", alpha, " e^x")};
  }
  static AttributeList attribute_list(const Record& r) { return {{"alpha", r.attributes<double>()}}; }
  static constexpr OpInfo info{
      "elu",         "y = x where x > 0, else a (e^x - 1)", "dx = dy where x > 0, else dy a e^x", "x", formulas,
      attribute_list};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, double alpha) { return x > 0 ? x : static_cast<T>(alpha) * expm1(x); }
  template <class T> static T slope(T x, T, double alpha) { return x > 0 ? T(1) : static_cast<T>(alpha) * exp(x); }
};

struct Selu {
  static constexpr double alpha = 1.6732632423543772848170429916717;
  static constexpr double factor = 1.0507009873554804934193349852946;
  static constexpr OpInfo info{"selu", "y = 1.0507009873554805 x where x > 0, else 1.7580993408473766 (e^x - 1)",
                               "dx = 1.0507009873554805 dy where x > 0, else 1.7580993408473766 dy e^x", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return x > 0 ? T(factor) * x : T(factor * alpha) * expm1(x); }
  template <class T> static T slope(T x, T) { return x > 0 ? T(factor) : T(factor * alpha) * exp(x); }
};

}  // namespace

Tensor elu(const Tensor& x, double alpha) { return unary<Elu>(x, {alpha}); }
Tensor selu(const Tensor& x) { return unary<Selu>(x); }

}  // namespace retrace
