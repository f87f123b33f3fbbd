// A pass of Adam over a parameter and its two averages, and the look for numbers that are not finite before it.
#pragma once

#include <cmath>
#include <cstdint>

namespace retrace::kernels {

/// A step of Adam for each of `count` elements, with s = g + weight_decay w:
///   m = b1 m + (1 - b1) s, v = b2 v + (1 - b2) s^2, w = keep w - step_size m / (sqrt(v_correction v') + eps)
/// v' is v, or, if max_v is not null, the largest v so far: max_v = max(max_v, v).
template <class T> struct AdamStep {
  T *w, *m, *v, *max_v;
  const T* g;
  std::int64_t count;
  T b1, one_minus_b1, b2, one_minus_b2, step_size, v_correction, eps, keep, weight_decay;
};

/// are_finite = none of `count` numbers is a NaN or an infinity.
template <class T> struct FiniteCheck {
  const T* x;
  std::int64_t count;
  bool* are_finite;
};

template <class T> void adam_plain(const AdamStep<T>& args) {
  using std::isinf, std::sqrt;
  for (std::int64_t k = 0; k < args.count; ++k) {
    const T before = args.w[k] * args.keep, slope = args.g[k] + args.weight_decay * args.w[k];
    args.m[k] = args.b1 * args.m[k] + args.one_minus_b1 * slope;
    args.v[k] = args.b2 * args.v[k] + args.one_minus_b2 * slope * slope;
    if (args.max_v != nullptr) args.max_v[k] = args.v[k] > args.max_v[k] ? args.v[k] : args.max_v[k];
    const T under_root = args.max_v != nullptr ? args.max_v[k] : args.v[k], corrected = under_root * args.v_correction;
    const T root = isinf(corrected) ? sqrt(under_root) * sqrt(args.v_correction) : sqrt(corrected);
    args.w[k] = before - args.step_size * args.m[k] / (root + args.eps);
  }
}

template <class T> void check_finite_plain(const FiniteCheck<T>& args) {
  using std::isfinite;
  *args.are_finite = true;
  for (std::int64_t k = 0; k < args.count; ++k)
    if (!isfinite(args.x[k])) *args.are_finite = false;
}

}  // namespace retrace::kernels
