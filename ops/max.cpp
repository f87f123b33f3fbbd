#include <retrace/ops/loops/reduction.h>

namespace retrace {
namespace {

// Equal extremes share the gradient evenly.
template <class T> double ties(const Terms<T>& x, T y) {
  double count = 0;
  x.for_each([&](std::int64_t k) { count += x.x[k] == y ? 1 : 0; });
  return count;
}

// y of equal extremes: any of them; of dual numbers with the mean of their tangents, as their gradients ask.
template <class T> T shared_by_ties(const Terms<T>&, T y) { return y; }
Dual shared_by_ties(const Terms<Dual>& x, Dual y) {
  double sum = 0;
  x.for_each([&](std::int64_t k) { sum += x.x[k] == y ? x.x[k].tangent : 0; });
  return std::isnan(y.value) ? y : Dual(y.value, sum / ties(x, y));
}

// The difference of equal extremes that have different tangents, else 0.
template <class T> T split_of_ties(const Terms<T>&, T) { return T(0); }
Dual split_of_ties(const Terms<Dual>& x, Dual y) {
  Dual split;
  x.for_each([&](std::int64_t k) { split = x.x[k] == y && x.x[k].tangent != y.tangent ? x.x[k] - y : split; });
  return split;
}

// The element that none `beats`; NaN beats all.
template <class T, class Beats> T extreme(const Terms<T>& x, Beats&& beats) {
  T best = x.x[x.base];
  x.for_each([&](std::int64_t k) {
    if (isnan(x.x[k]) || beats(x.x[k], best)) best = isnan(best) ? best : x.x[k];
  });
  return shared_by_ties(x, best);
}

Formulas extreme_formulas(const Record& r) {
  return {text("y = ", r.op().name, " x", along_reduced(r)), "dx = dy [x = y] / sum [x = y]" + along_reduced(r)};
}

struct Max {
  static constexpr OpInfo info{"max", "y = max x",      "dx = dy [x = y] / sum [x = y]",
                               "x",   extreme_formulas, reduction_attributes};
  static constexpr bool integers = true;
  static constexpr bool needs_elements = true;

  template <class T> static T value(const Terms<T>& x) {
    return extreme(x, [](T a, T b) { return a > b; });
  }
  template <class T> struct Context { T count, split; };
  template <class T> static Context<T> context(const Terms<T>& x, T y) {
    return {static_cast<T>(ties(x, y)), split_of_ties(x, y)};
  }
  template <class T> static T gradient(T dy, T x, T y, const Context<T>& of_set) {
    return x == y ? dy / (of_set.count + slope_at_kink(of_set.split)) : T(0);
  }
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
