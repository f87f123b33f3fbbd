// Arguments of a pass of Adam over a parameter, and of the look for numbers that are not finite before it.
#pragma once

#include <cmath>
#include <cstdint>

namespace retrace {

/// A step for each of `count` elements; plain::adam in nn/optim/optimizers.cpp is its formula. max_v is null without
/// amsgrad.
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

namespace plain {
template <class T> void check_finite(const FiniteCheck<T>& args) {
  using std::isfinite;
  *args.are_finite = true;
  for (std::int64_t k = 0; k < args.count; ++k)
    if (!isfinite(args.x[k])) *args.are_finite = false;
}
}  // namespace plain

}  // namespace retrace
