#include <retrace/nn/reduce_on_plateau.h>

#include <algorithm>
#include <cmath>

namespace retrace {

double ReduceOnPlateau::rate() const { return std::max(base * state.scale, std::min(min, base)); }

bool ReduceOnPlateau::is_gain(double metric) const {
  if (!state.has_best) return !std::isnan(metric);
  const double margin = gain == Gain::relative ? threshold * std::abs(state.best) : threshold;
  return better == Better::lower ? metric < state.best - margin : metric > state.best + margin;
}

double ReduceOnPlateau::operator()(double metric) {
  if (is_gain(metric)) {
    state.best = metric;
    state.has_best = true;
    state.without_gain = 0;
  } else {
    ++state.without_gain;
  }
  if (state.cooldown_left > 0) {
    --state.cooldown_left;
    state.without_gain = 0;
  }
  if (state.without_gain > patience) {
    state.scale *= factor;
    state.cooldown_left = cooldown;
    state.without_gain = 0;
  }
  return rate();
}

}  // namespace retrace
