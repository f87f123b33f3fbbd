// relu and leaky_relu.
#include <retrace/core/attribute.h>
#include <retrace/ops/loops/activation.h>
#include <retrace/ops/loops/formula.h>

namespace retrace {
namespace {

struct Relu {
  static constexpr OpInfo info{"relu", "y = max(x, 0)", "dx = dy where x > 0, else 0", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::y;

  template <class T> static T value(T x, Attributes) {
    return x <= 0 ? T(0) : x;  // NaN is not <= 0
  }
  template <class T> static T slope(T, T y, Attributes) { return y > 0 ? T(1) : T(0); }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::relu;
  template <class T> static constexpr auto gradient_kernel = &kernels::MapKernels<T>::relu_gradient;
};

struct LeakyRelu {
  struct Attributes {
    double slope;
  };
  static Formulas formulas(const Record& r) {
    const std::string c = as_factor(r.attributes<Attributes>().slope);
    return {text("y = x where x > 0, else ", c, " x"), text("dx = dy where x > 0, else ", c, " dy")};
  }
  static AttributeList attribute_list(const Record& r) { return {{"slope", r.attributes<Attributes>().slope}}; }
  static constexpr OpInfo info{
      "leaky_relu", "y = x where x > 0, else c x", "dx = dy where x > 0, else c dy", "x", formulas, attribute_list};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, const Attributes& c) { return x > 0 ? x : static_cast<T>(c.slope) * x; }
  template <class T> static T slope(T x, T, const Attributes& c) { return x > 0 ? T(1) : static_cast<T>(c.slope); }
};

}  // namespace

Tensor relu(const Tensor& x) { return unary<Relu>(x); }
Tensor leaky_relu(const Tensor& x, double slope) { return unary<LeakyRelu>(x, {slope}); }

constinit const ActivationParts relu_parts = parts_of<Relu>("max(z, 0)", "dy where y > 0, else 0", relu);

}  // namespace retrace
