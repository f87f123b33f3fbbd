// relu and leaky_relu.
#include <retrace/ops/loops/formula.h>
#include <retrace/ops/ops.h>
#include <retrace/ops/relu.h>

namespace retrace {
namespace {

struct LeakyRelu {
  struct Attributes {
    double slope;
  };
  static Formulas formulas(const Record& r) {
    const std::string c = as_factor(r.attributes<Attributes>().slope);
    return {text("y = x where x > 0, else ", c, " x"), text("dx = dy where x > 0, else ", c, " dy")};
  }
  static constexpr OpInfo info{"leaky_relu", "y = x where x > 0, else c x", "dx = dy where x > 0, else c dy", "x",
                               formulas};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, const Attributes& c) { return x > 0 ? x : static_cast<T>(c.slope) * x; }
  template <class T> static T slope(T x, T, const Attributes& c) { return x > 0 ? T(1) : static_cast<T>(c.slope); }
};

}  // namespace

Tensor relu(const Tensor& x) { return unary<Relu>(x); }
Tensor leaky_relu(const Tensor& x, double slope) { return unary<LeakyRelu>(x, {slope}); }

}  // namespace retrace
