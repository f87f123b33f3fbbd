#include <retrace/ops/loops/binary.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Div {
  static constexpr OpInfo info{"div", "y = a / b", "da = dy / b, db = -dy y / b", "a, b"};
  static constexpr Reads da_reads{.b = true}, db_reads{.b = true, .y = true};

  template <class T> static T value(T a, T b) { return a / b; }
  template <class T> static T da(T dy, T, T b, T) { return dy / b; }
  template <class T> static T db(T dy, T, T b, T y) { return -dy * y / b; }
};

// Dividing by a number, and a number by x, is a true division: 49 times 1 / 49 is less than 1, and 1 / x overflows or
// underflows where c / x does not.

struct DivideBy {
  using Attributes = double;
  static Formulas formulas(const Record& r) {
    const std::string c = as_factor(r.attributes<double>());
    return {"y = x / " + c, "dx = dy / " + c};
  }
  static AttributeList attribute_list(const Record& r) { return {{"divisor", r.attributes<double>()}}; }
  static constexpr OpInfo info{"div", "y = x / c", "dx = dy / c", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::nothing;

  template <class T> static T value(T x, double divisor) { return x / static_cast<T>(divisor); }
  template <class T> static T gradient(T dy, T, T, double divisor) { return dy / static_cast<T>(divisor); }
};

struct DivideNumber {
  using Attributes = double;
  static Formulas formulas(const Record& r) {
    return {text("y = ", as_factor(r.attributes<double>()), " / x"), info.backward};
  }
  static AttributeList attribute_list(const Record& r) { return {{"dividend", r.attributes<double>()}}; }
  static constexpr OpInfo info{"div", "y = c / x", "dx = -dy y / x", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, double dividend) { return static_cast<T>(dividend) / x; }
  template <class T> static T gradient(T dy, T x, T, double dividend) { return -dy * value(x, dividend) / x; }
};

}  // namespace

Tensor div(const Tensor& a, const Tensor& b) { return binary<Div>(a, b); }
Tensor div(const Tensor& x, double divisor) { return unary<DivideBy>(x, {divisor}); }
Tensor div(double dividend, const Tensor& x) { return unary<DivideNumber>(x, {dividend}); }

}  // namespace retrace
