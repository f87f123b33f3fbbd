#include <retrace/nn/optim/reduce_on_plateau.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <retrace/nn/optim/number_range.h>

namespace retrace {

void ReduceOnPlateau::check() const {
  constexpr const char* owner = "ReduceOnPlateau";
  check_number(owner, "base", base, not_negative, "such as 1e-3");
  check_number(owner, "factor", factor, from_0_to_below_1, "such as 0.1");
  check_number(owner, "patience", patience, not_negative, "such as 10");
  check_number(owner, "threshold", threshold, not_negative, "such as 1e-4");
  check_number(owner, "cooldown", cooldown, not_negative);
  check_number(owner, "min", min, not_negative);
}

double ReduceOnPlateau::rate() const {
  check();
  return std::max(base * state.scale, std::min(min, base));
}

bool ReduceOnPlateau::is_gain(double metric) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(metric) || metric == (better == Better::lower ? -infinity : infinity)) return false;
  if (!state.has_best) return true;
  if (std::isinf(state.best)) return std::isfinite(metric);  // the margin would be infinite, too
  const double margin = gain == Gain::relative ? threshold * std::abs(state.best) : threshold;
  return better == Better::lower ? metric < state.best - margin : metric > state.best + margin;
}

double ReduceOnPlateau::operator()(double metric) {
  check();
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
