// Learning rate schedules: function objects that map the number of a step, from 0, to its learning rate. With base 1,
// they map it to the factor of AnyOptimizer::scale_learning_rates. (ReduceOnPlateau has a file of its own.) Options are
// given by name in braces: the union around the first one cannot be initialised in parentheses, so WarmUpCosine(100,
// 1500), which says nothing of its numbers, does not compile. A call throws ValueError for invalid options and for a
// step below 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <retrace/nn/optim/number_range.h>

namespace retrace {

namespace detail {

// The rules of a schedule between `base` and `min`.
template <class Schedule> void check_ends(const char* owner, const Schedule& schedule) {
  check_number(owner, "base", schedule.base, not_negative);
  check_number(owner, "min", schedule.min, {0, schedule.base}, "at most base");
}

// The same for a schedule that warms up during the first `warm_up` of its `steps`.
template <class Schedule> void check_phases(const char* owner, const Schedule& schedule, std::int64_t step) {
  check_ends(owner, schedule);
  check_number(owner, "steps", schedule.steps, above_0, "the length of the training");
  check_number(owner, "warm_up", schedule.warm_up, {0, static_cast<double>(schedule.steps)}, "a part of the steps");
  check_number(owner, "step", step, not_negative);
}

}  // namespace detail

/// lr = base gamma^floor(step / every), with gamma from 0 to 1 and `every` above 0.
struct StepDecay {
  union {
    double base = 1e-3;
  };
  double gamma = 0.5;
  std::int64_t every = 1;
  double operator()(std::int64_t step) const {
    check_number("StepDecay", "base", base, not_negative);
    check_number("StepDecay", "gamma", gamma, from_0_to_1, "such as 0.5");
    check_number("StepDecay", "every", every, above_0, "such as 1000; gamma 1 never decays");
    check_number("StepDecay", "step", step, not_negative);
    return base * std::pow(gamma, static_cast<double>(step / every));
  }
};

/// lr = base gamma^n after n of the milestones, steps that rise from 0 or more (MultiStepLR of PyTorch).
struct MultiStepDecay {
  union {
    double base = 1e-3;
  };
  std::vector<std::int64_t> milestones = {};
  double gamma = 0.1;
  double operator()(std::int64_t step) const {
    check_number("MultiStepDecay", "base", base, not_negative);
    check_number("MultiStepDecay", "gamma", gamma, from_0_to_1, "such as 0.1");
    check_number("MultiStepDecay", "step", step, not_negative);
    double rate = base;
    std::int64_t last = -1;
    for (const std::int64_t milestone : milestones) {
      check_number("MultiStepDecay", "a milestone", milestone, {static_cast<double>(last) + 1, not_negative.max},
                   "after the one before it");
      if (step >= milestone) rate *= gamma;
      last = milestone;
    }
    return rate;
  }
};

/// lr = base (step + 1) / warm_up for the first `warm_up` steps, then from base down to min along half a cosine
/// (Loshchilov and Hutter, "SGDR", 2017) until `steps`, and min from there on. warm_up is at most `steps`.
struct WarmUpCosine {
  union {
    double base = 1e-3;
  };
  double min = 0;
  std::int64_t warm_up = 0;
  std::int64_t steps = 1;
  double operator()(std::int64_t step) const {
    detail::check_phases("WarmUpCosine", *this, step);
    if (step >= steps) return min;
    if (step < warm_up) return base * static_cast<double>(step + 1) / static_cast<double>(warm_up);
    const double part = static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
    return min + (base - min) / 2 * (1 + std::cos(std::numbers::pi * part));
  }
};

/// lr = base (step + 1) / warm_up for the first `warm_up` steps, then linearly from base down to min at step `steps`,
/// and min from there on. warm_up is at most `steps`.
struct LinearDecay {
  union {
    double base = 1e-3;
  };
  double min = 0;
  std::int64_t warm_up = 0;
  std::int64_t steps = 1;
  double operator()(std::int64_t step) const {
    detail::check_phases("LinearDecay", *this, step);
    if (step >= steps) return min;
    if (step < warm_up) return base * static_cast<double>(step + 1) / static_cast<double>(warm_up);
    return base + (min - base) * static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
  }
};

/// lr = base min((step + 1) / warm_up, sqrt(warm_up / (step + 1))): it rises to base at the end of the warm-up of 1 or
/// more steps, then falls with the root of the step (Vaswani et al., "Attention is all you need", 2017).
struct InverseSqrt {
  union {
    double base = 1e-3;
  };
  std::int64_t warm_up = 1;
  double operator()(std::int64_t step) const {
    check_number("InverseSqrt", "base", base, not_negative);
    check_number("InverseSqrt", "warm_up", warm_up, above_0, "and 1 is no warm-up");
    check_number("InverseSqrt", "step", step, not_negative);
    const double part = static_cast<double>(step + 1) / static_cast<double>(warm_up);
    return part < 1 ? base * part : base / std::sqrt(part);
  }
};

/// Half a cosine from base down to min in the first `period` steps, then again in `growth` times as many, and so on
/// (Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2017; CosineAnnealingWarmRestarts of
/// PyTorch).
struct WarmRestarts {
  union {
    double base = 1e-3;
  };
  double min = 0;
  std::int64_t period = 1;
  std::int64_t growth = 1;
  double operator()(std::int64_t step) const {
    detail::check_ends("WarmRestarts", *this);
    check_number("WarmRestarts", "period", period, above_0, "such as 1000");
    check_number("WarmRestarts", "growth", growth, {1, not_negative.max}, "such as 2");
    check_number("WarmRestarts", "step", step, not_negative);
    std::int64_t since = growth == 1 ? step % period : step, length = period;
    constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
    for (; since >= length; length = length > longest / growth ? longest : length * growth) since -= length;
    const double part = static_cast<double>(since) / static_cast<double>(length);
    return min + (base - min) / 2 * (1 + std::cos(std::numbers::pi * part));
  }
};

/// Up from min to base in `rise` steps and down again in `fall` steps, over and over (Smith, "Cyclical learning rates
/// for training neural networks", 2017; CyclicLR of PyTorch). Each cycle is `shrink` times as high above min as the one
/// before it, and each step gamma times: shrink 0.5 is the paper's "triangular2", gamma below 1 its "exp_range".
struct Cyclic {
  union {
    double base = 1e-3;  // the highest
  };
  double min = 0;
  std::int64_t rise = 1;
  std::int64_t fall = 1;
  double shrink = 1;
  double gamma = 1;
  double operator()(std::int64_t step) const {
    detail::check_ends("Cyclic", *this);
    check_number("Cyclic", "rise", rise, above_0, "such as 1000");
    check_number("Cyclic", "fall", fall, above_0, "such as 1000");
    check_number("Cyclic", "shrink", shrink, from_0_to_1, "such as 0.5");
    check_number("Cyclic", "gamma", gamma, from_0_to_1, "such as 0.999");
    check_number("Cyclic", "step", step, not_negative);
    const double up = static_cast<double>(rise), down = static_cast<double>(fall), at = std::fmod(step, up + down);
    const double height = at < up ? at / up : (up + down - at) / down;
    const double cycle = std::floor(static_cast<double>(step) / (up + down));
    return min + (base - min) * height * std::pow(shrink, cycle) * std::pow(gamma, static_cast<double>(step));
  }
};

/// How a learning rate goes from one value to another.
enum class Anneal { cosine, linear };

/// One cycle (Smith and Topin, "Super-convergence", 2019), with the numbers of PyTorch's OneCycleLR: in the first part
/// `rise` of the steps from base / start_divisor up to base, then down to base / (start_divisor end_divisor) at the
/// last step, and that from there on. With `three_phases`, it first falls to base / start_divisor as it rose, and from
/// there in the rest of the steps (rise is at most one half). start_divisor is 1 or more, end_divisor above 0.
struct OneCycle {
  union {
    double base = 1e-3;  // the highest
  };
  std::int64_t steps = 1;
  double rise = 0.3;
  double start_divisor = 25;
  double end_divisor = 1e4;
  Anneal anneal = Anneal::cosine;
  bool three_phases = false;

  double operator()(std::int64_t step) const {
    check(step);
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
  void check(std::int64_t step) const {
    check_number("OneCycle", "base", base, not_negative);
    check_number("OneCycle", "steps", steps, above_0, "the length of the training");
    check_number("OneCycle", "rise", rise, {0, three_phases ? 0.5 : 1}, "such as 0.3");
    check_number("OneCycle", "start_divisor", start_divisor, {1, not_negative.max}, "such as 25");
    check_number("OneCycle", "end_divisor", end_divisor, above_0, "such as 1e4");
    check_number("OneCycle", "step", step, not_negative);
  }
  double between(double from, double to, double part) const {
    if (anneal == Anneal::linear) return from + (to - from) * part;
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
  }
};

}  // namespace retrace
