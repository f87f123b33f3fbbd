// The logistic function and its integral, exact to rounding in both tails: what sigmoid, softplus, silu and gelu are
// made of. Only e^-|x| is taken, which cannot overflow, and no difference of nearly equal numbers.
#pragma once

#include <cmath>

namespace retrace {

/// 1 / (1 + e^-x).
template <class T> T logistic(T x) {
  using std::abs, std::exp;
  const T e = exp(-abs(x));
  return (x < 0 ? e : T(1)) / (1 + e);
}

/// Its derivative, logistic(x) logistic(-x).
template <class T> T logistic_slope(T x) {
  using std::abs, std::exp;
  const T e = exp(-abs(x));
  return e / ((1 + e) * (1 + e));
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|).
template <class T> T log_one_plus_exp(T x) {
  using std::abs, std::exp, std::log1p;
  return (x < 0 ? T(0) : x) + log1p(exp(-abs(x)));
}

}  // namespace retrace
