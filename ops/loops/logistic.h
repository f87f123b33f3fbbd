// The logistic function and its integral, exact to rounding in both tails: what sigmoid, softplus, silu and gelu are
// made of. Only e^-|x| is taken, which cannot overflow, and no difference of nearly equal numbers.
#pragma once

#include <retrace/ops/loops/functions.h>
#include <retrace/ops/loops/ordered_sum.h>
#include <cmath>

namespace retrace {

/// e^-|x|; at 0 the slope is that of e^-x, which belongs to the branches for x >= 0 below.
template <class T> T exp_of_minus_size(T x) { return exp(x < 0 ? x : -x); }

/// 1 / (1 + e^-x).
template <class T> T logistic(T x) {
  const T e = exp_of_minus_size(x);
  return (x < 0 ? e : T(1)) / (1 + e);
}

/// Its derivative, logistic(x) logistic(-x).
template <class T> T logistic_slope(T x) {
  const T e = exp_of_minus_size(x);
  return e / ((1 + e) * (1 + e));
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|).
template <class T> T log_one_plus_exp(T x) { return (x < 0 ? T(0) : x) + log1p(exp_of_minus_size(x)); }

// x times a gate that tends to 0 faster tends to 0: at an infinity, the gate is 0, and a large number takes the place
// of x.

/// x, or the lowest number at -inf.
template <class T> T at_least_lowest(T x) {
  const T lowest = static_cast<T>(-largest_number<T>);
  return x < lowest ? lowest : x;
}
/// x, or the lowest or the largest number at an infinity.
template <class T> T finite_or_nan(T x) {
  const T largest = static_cast<T>(largest_number<T>);
  return x > largest ? largest : at_least_lowest(x);
}

}  // namespace retrace
