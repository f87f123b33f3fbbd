#include <retrace/ops/ops.h>
#include <retrace/ops/unary.h>

namespace retrace {
namespace {

struct Scale {
  static constexpr OpInfo info{"scale", "y = c x", "dx = c dy", "x"};
  struct Attributes {
    double factor;
  };
  static constexpr Saves saves = Saves::nothing;

  template <class T>
  static T value(T x, const Attributes& c) {
    return static_cast<T>(c.factor) * x;
  }
  template <class T>
  static T slope(T, T, const Attributes& c) {
    return static_cast<T>(c.factor);
  }
};

}  // namespace

Tensor scale(const Tensor& x, double factor) { return unary<Scale>(x, {factor}); }

}  // namespace retrace
