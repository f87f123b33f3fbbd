#include <cmath>

#include <retrace/ops/loops/reduction.h>

namespace retrace {
namespace {

// The element that none `beats`; NaN beats all.
template <class T, class Beats> T extreme(const Terms<T>& x, Beats&& beats) {
  using std::isnan;
  T best = x.x[x.base];
  x.for_each([&](std::int64_t k) {
    if (isnan(x.x[k]) || beats(x.x[k], best)) best = isnan(best) ? best : x.x[k];
  });
  return best;
}

// Equal extremes share the gradient evenly.
template <class T> double share_of_ties(const Terms<T>& x, T y) {
  double ties = 0;
  x.for_each([&](std::int64_t k) { ties += x.x[k] == y ? 1 : 0; });
  return 1 / ties;
}

Formulas extreme_formulas(const Record& r) {
  return {text("y = ", r.op().name, " x", along_reduced(r)), "dx = dy [x = y] / sum [x = y]" + along_reduced(r)};
}

struct Max {
  static constexpr OpInfo info{"max", "y = max x",      "dx = dy [x = y] / sum [x = y]",
                               "x",   extreme_formulas, reduction_attributes};
  static constexpr bool needs_elements = true;

  template <class T> static T value(const Terms<T>& x) {
    return extreme(x, [](T a, T b) { return a > b; });
  }
  template <class T> static double context(const Terms<T>& x, T y) { return share_of_ties(x, y); }
  template <class T> static T slope(T x, T y, double share) { return x == y ? static_cast<T>(share) : T(0); }
};

struct Min : Max {
  static constexpr OpInfo info{"min", "y = min x",      "dx = dy [x = y] / sum [x = y]",
                               "x",   extreme_formulas, reduction_attributes};

  template <class T> static T value(const Terms<T>& x) {
    return extreme(x, [](T a, T b) { return a < b; });
  }
};

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Max>(x, axes, options); }
Tensor min(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Min>(x, axes, options); }

}  // namespace retrace
