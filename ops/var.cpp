// var, and std, its square root.
#include <retrace/ops/loops/reduction.h>
#include <retrace/ops/loops/rescaled.h>

namespace retrace {
namespace {

template <class T> Wide<T> count_of(const Terms<T>& x) { return static_cast<Wide<T>>(static_cast<double>(x.count())); }

template <class T> Wide<T> mean_of(const Terms<T>& x) {
  const Wide<T> sum = x.sum([](auto element) { return element; });
  if (isfinite(sum)) return sum / count_of(x);
  const PowerOfTwo scale = to_unit_size(largest_of(x));
  return scale.into(x.sum([=](auto element) { return scale.times(element); }) / count_of(x));
}

template <class T> Wide<T> variance_of(const Terms<T>& x, Wide<T> mean) {
  return x.sum([=](Wide<T> element) { return (element - mean) * (element - mean); }) / count_of(x);
}

/// The variance of the elements times a power of two.
template <class T> Wide<T> variance_of(const Terms<T>& x, Wide<T> mean, const PowerOfTwo& scale) {
  return x.sum([=](Wide<T> element) {
    const Wide<T> deviation = scale.times(element) - scale.times(mean);
    return deviation * deviation;
  }) / count_of(x);
}

struct Var {
  static Formulas formulas(const Record& r) {
    return {"y = mean (x - mean x)^2" + along_reduced(r),
            text("dx = 2 dy (x - mean x) / ", terms_of(r), along_reduced(r))};
  }
  static constexpr OpInfo info{"var",    "y = mean (x - mean x)^2", "dx = 2 dy (x - mean x) / n", "x",
                               formulas, reduction_attributes};
  static constexpr bool needs_elements = false;

  template <class T> struct Context {
    T mean;
    T two_nths;
  };
  // Two passes: sum x^2 - (sum x)^2 / n would lose everything where the mean is large.
  template <class T> static T value(const Terms<T>& x) {
    const Wide<T> mean = mean_of(x), variance = variance_of(x, mean);
    if (keeps_digits(variance)) return static_cast<T>(variance);
    const PowerOfTwo scale = to_unit_size(largest_of(x));
    return static_cast<T>(scale.into(scale.into(variance_of(x, mean, scale))));
  }
  template <class T> static Context<T> context(const Terms<T>& x, T) {
    return {static_cast<T>(mean_of(x)), static_cast<T>(Wide<T>(2) / count_of(x))};
  }
  template <class T> static T slope(T x, T, const Context<T>& of_set) { return of_set.two_nths * (x - of_set.mean); }
};

struct Std {
  static Formulas formulas(const Record& r) {
    return {"v = mean (x - mean x)^2" + along_reduced(r) + ", y = sqrt v",
            text("dx = dy (x - mean x) / (", terms_of(r), " y)", along_reduced(r))};
  }
  static constexpr OpInfo info{"std",
                               "v = mean (x - mean x)^2, y = sqrt v",
                               "dx = dy (x - mean x) / (n y)",
                               "x",
                               formulas,
                               reduction_attributes};
  static constexpr bool needs_elements = false;

  // The mean of equal elements is one of them: the second pass takes away what the first one rounded. Else their
  // deviation would not be 0, and its gradient anything.
  template <class T> static Wide<T> exact_mean(const Terms<T>& x) {
    const Wide<T> mean = mean_of(x);
    return mean + x.sum([=](auto element) { return element - mean; }) / count_of(x);
  }

  template <class T> struct Context {
    Wide<T> mean;
    Wide<T> n;
  };
  template <class T> static T value(const Terms<T>& x) {
    const Wide<T> mean = exact_mean(x), variance = variance_of(x, mean);
    if (keeps_digits(variance)) return static_cast<T>(sqrt(variance));
    const PowerOfTwo scale = to_unit_size(largest_of(x));
    const Wide<T> rescaled = variance_of(x, mean, scale);
    return rescaled == Wide<T>(0) ? T(0) : static_cast<T>(scale.into(sqrt(rescaled)));
  }
  template <class T> static Context<T> context(const Terms<T>& x, T) { return {exact_mean(x), count_of(x)}; }
  template <class T> static T slope(T x, T y, const Context<T>& of_set) {
    const Wide<T> deviation = static_cast<Wide<T>>(x) - of_set.mean;
    if (y == T(0)) return static_cast<T>(slope_at_kink(deviation));
    const Wide<T> below = of_set.n * static_cast<Wide<T>>(y);
    return static_cast<T>(isfinite(below) ? deviation / below : deviation / static_cast<Wide<T>>(y) / of_set.n);
  }
};

/// n / (n - correction), by which a variance of n elements is multiplied.
double corrected(const char* function, const Tensor& x, const Axes& axes, double correction) {
  check_defined(function, x, "x");
  const ReductionLoops loops(x.shape(), axes.flags(x, function));
  const double n = static_cast<double>(loops.terms);
  if (!(correction >= 0))
    throw ValueError(
        text(function, ": ", describe_operand("x", x), " with correction ", correction, "; give 0 or more"));
  if (correction > 0 && n <= correction)
    throw ShapeError(text(function, ": ", describe_operand("x", x), " has ", loops.terms,
                          " elements along the reduced axes, but correction ", correction,
                          " needs more; reduce another axis or take correction 0"));
  return correction == 0 ? 1 : n / (n - correction);
}

}  // namespace

Tensor var(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Var>(x, axes, options); }
Tensor var(const Tensor& x, const Axes& axes, ReduceOptions options, double correction) {
  const double factor = corrected(Var::info.name, x, axes, correction);
  const Tensor biased = var(x, axes, options);
  return factor == 1 ? biased : scale(biased, factor);
}

Tensor std(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Std>(x, axes, options); }
Tensor std(const Tensor& x, const Axes& axes, ReduceOptions options, double correction) {
  const double factor = corrected(Std::info.name, x, axes, correction);
  const Tensor biased = std(x, axes, options);
  return factor == 1 ? biased : scale(biased, std::sqrt(factor));
}

Tensor standard_deviation(const Tensor& x, const Axes& axes, ReduceOptions options) { return std(x, axes, options); }
Tensor standard_deviation(const Tensor& x, const Axes& axes, ReduceOptions options, double correction) {
  return std(x, axes, options, correction);
}

}  // namespace retrace
