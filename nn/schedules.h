// Learning rate schedules: function objects that map the number of a step, from 0, to its learning rate.
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

}  // namespace retrace
