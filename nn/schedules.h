// Learning rate schedules: function objects that map the number of a step, from 0, to its learning rate. With base 1,
// they map it to the factor of AnyOptimizer::scale_learning_rates. (ReduceOnPlateau has a file of its own.)
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace retrace {

/// lr = base gamma^floor(step / every).
struct StepDecay {
  double base = 1e-3;
  double gamma = 0.5;
  std::int64_t every = 1;
  double operator()(std::int64_t step) const { return base * std::pow(gamma, static_cast<double>(step / every)); }
};

/// lr = base (step + 1) / warm_up for the first `warm_up` steps, then from base down to min along half a cosine
/// (Loshchilov and Hutter, "SGDR", 2017) until `steps`, and min from there on.
struct WarmUpCosine {
  double base = 1e-3;
  double min = 0;
  std::int64_t warm_up = 0;
  std::int64_t steps = 1;
  double operator()(std::int64_t step) const {
    if (step >= steps) return min;
    if (step < warm_up) return base * static_cast<double>(step + 1) / static_cast<double>(warm_up);
    const double part = static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
    return min + (base - min) / 2 * (1 + std::cos(std::numbers::pi * part));
  }
};

/// lr = base (step + 1) / warm_up for the first `warm_up` steps, then linearly from base down to min at step `steps`,
/// and min from there on.
struct LinearDecay {
  double base = 1e-3;
  double min = 0;
  std::int64_t warm_up = 0;
  std::int64_t steps = 1;
  double operator()(std::int64_t step) const {
    if (step >= steps) return min;
    if (step < warm_up) return base * static_cast<double>(step + 1) / static_cast<double>(warm_up);
    return base + (min - base) * static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
  }
};

/// lr = base min((step + 1) / warm_up, sqrt(warm_up / (step + 1))): it rises to base at the end of the warm-up of 1 or
/// more steps, then falls with the root of the step (Vaswani et al., "Attention is all you need", 2017).
struct InverseSqrt {
  double base = 1e-3;
  std::int64_t warm_up = 1;
  double operator()(std::int64_t step) const {
    const double part = static_cast<double>(step + 1) / static_cast<double>(warm_up);
    return part < 1 ? base * part : base / std::sqrt(part);
  }
};

/// How a learning rate goes from one value to another.
enum class Anneal { cosine, linear };

/// One cycle (Smith and Topin, "Super-convergence", 2019), with the numbers of PyTorch's OneCycleLR: in the first part
/// `rise` of the steps from base / start_divisor up to base, then down to base / (start_divisor end_divisor) at the
/// last step, and that from there on. With `three_phases`, it first falls to base / start_divisor as it rose, and from
/// there in the rest of the steps (rise is at most one half).
struct OneCycle {
  double base = 1e-3;  // the highest
  std::int64_t steps = 1;
  double rise = 0.3;
  double start_divisor = 25;
  double end_divisor = 1e4;
  Anneal anneal = Anneal::cosine;
  bool three_phases = false;

  double operator()(std::int64_t step) const {
    const double at = static_cast<double>(step), last = static_cast<double>(steps - 1);
    const double start = base / start_divisor, end = start / end_divisor;
    const double top = rise * static_cast<double>(steps) - 1, valley = 2 * top;
    if (at >= last) return end;
    if (at < top) return between(start, base, at / top);
    if (!three_phases) return between(base, end, (at - top) / (last - top));
    if (at < valley) return between(base, start, (at - top) / (valley - top));
    return between(start, end, (at - valley) / (last - valley));
  }

 private:
  double between(double from, double to, double part) const {
    if (anneal == Anneal::linear) return from + (to - from) * part;
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
  }
};

}  // namespace retrace
